"""Prints the tasks of a tau-bench file as JSON lines: the user's text and the calls of the solution."""
import ast
import json
import sys


def read_call(node):
    """Turns Name(key=value, ...) into a dict, nested calls included."""
    if isinstance(node, ast.Call):
        return {keyword.arg: read_call(keyword.value) for keyword in node.keywords}
    if isinstance(node, ast.List):
        return [read_call(item) for item in node.elts]
    return ast.literal_eval(node)


for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List):
            for task in read_call(statement.value):
                calls = [{"tool": action["name"], "args": action["kwargs"]} for action in task["actions"]]
                print(json.dumps({"intent": task["instruction"], "calls": calls}))
