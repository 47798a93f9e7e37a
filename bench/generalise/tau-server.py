"""A tau-bench world as an MCP server over stdio, or the gold states of its tasks. Standard library only.

tau-server.py serve <checkout> <world> <folder>: the benchmark writes <folder>/epoch to reset the state; changed
records are in <folder>/changes.json.
tau-server.py gold <checkout> <world>: for each line of stdin, a list of calls, prints the changed records.
"""
import importlib
import json
import pickle
import sys
import types


class World:
    def __init__(self, checkout, world):
        # The packages import model clients when they are loaded as such; only tools and data are needed.
        for name in ("tau_bench", "tau_bench.envs", f"tau_bench.envs.{world}"):
            package = types.ModuleType(name)
            package.__path__ = [f"{checkout}/{name.replace('.', '/')}"]
            sys.modules[name] = package
        tools = importlib.import_module(f"tau_bench.envs.{world}.tools").ALL_TOOLS
        self.tools = {tool.get_info()["function"]["name"]: tool for tool in tools}
        self.pristine = importlib.import_module(f"tau_bench.envs.{world}.data").load_data()
        self.copy = pickle.dumps(self.pristine)
        self.reset()

    def reset(self):
        self.data = pickle.loads(self.copy)

    def call(self, name, args):
        try:
            return self.tools[name].invoke(data=self.data, **args)
        except Exception as error:  # as the original environment does
            return f"Error: {error}"

    def changes(self):
        changed = {
            table: {key: value for key, value in records.items() if value != self.pristine[table].get(key)}
            for table, records in self.data.items()
        }
        return json.dumps({table: records for table, records in changed.items() if records}, sort_keys=True)


READING = ("get_", "find_", "list_", "search_", "calculate", "think")


def describe(tool):
    function = tool.get_info()["function"]
    reads = function["name"].startswith(READING)
    return {
        "name": function["name"],
        "description": function["description"],
        "inputSchema": function["parameters"],
        "annotations": {"readOnlyHint": True} if reads else {"readOnlyHint": False, "destructiveHint": False},
    }


class Server:
    def __init__(self, world, folder):
        self.world = world
        self.folder = folder
        self.epoch = None

    def answer(self, method, params):
        if method == "initialize":
            info = {"name": "tau", "version": "1.0.0"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        if method == "tools/list":
            return {"tools": [describe(tool) for tool in self.world.tools.values()]}
        if method == "tools/call":
            return self.call(params["name"], params.get("arguments", {}))
        return {}

    def call(self, name, args):
        with open(f"{self.folder}/epoch", encoding="utf-8") as file:
            epoch = file.read()
        if epoch != self.epoch:
            self.epoch = epoch
            self.world.reset()
        text = self.world.call(name, args)
        if not name.startswith(READING):
            with open(f"{self.folder}/changes.json", "w", encoding="utf-8") as file:
                file.write(self.world.changes())
        return {"content": [{"type": "text", "text": str(text)}]}

    def serve(self):
        for line in sys.stdin:
            message = json.loads(line)
            if "id" in message and "method" in message:
                result = self.answer(message["method"], message.get("params", {}))
                print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


def print_gold(world):
    for line in sys.stdin:
        world.reset()
        for call in json.loads(line):
            world.call(call["tool"], call["args"])
        print(world.changes())


if __name__ == "__main__":
    mode, checkout_path, world_name = sys.argv[1:4]
    opened = World(checkout_path, world_name)
    if mode == "serve":
        Server(opened, sys.argv[4]).serve()
    else:
        print_gold(opened)
