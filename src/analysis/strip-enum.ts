import type { Node, NodeOf } from "./syntax-tree.ts";
import type { TextEdits } from "./text-edits.ts";

/** Starts with the reserved prefix, so no program can use the name. */
const OBJECT = "__pml_enum";
const PLAIN_NAME =
  /^(?!(?:await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|eval|export|extends|false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|package|private|protected|public|return|static|super|switch|this|throw|true|try|typeof|var|void|while|with|yield|arguments|undefined|NaN|Infinity)$)[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** Replaces an enumeration by the object it is at run time; initialisers keep their positions. */
export function stripEnum(node: NodeOf<"TSEnumDeclaration">, edits: TextEdits): void {
  const { id, body } = node;
  let at = node.start;
  let previous: string | undefined;
  let pending = `var ${id.name};((${OBJECT})=>{`;
  for (const member of body.members) {
    const name = memberName(member.id);
    const key = JSON.stringify(name);
    const constant = PLAIN_NAME.test(name) ? `const ${name}=` : "";
    const opening = `${pending}${constant}${OBJECT}[${key}]=`;
    if (member.initializer === null) {
      edits.replace(at, member.end, `${opening}${previous === undefined ? "0" : `${previous}+1`}`);
    } else {
      edits.replace(at, member.initializer.start, `${opening}(`);
    }
    pending = `${member.initializer === null ? "" : ")"};if(typeof ${OBJECT}[${key}]!=="string")${OBJECT}[${OBJECT}[${key}]]=${key};`;
    previous = `${OBJECT}[${key}]`;
    at = member.end;
  }
  edits.replace(at, node.end, `${pending}})(${id.name}??={});`);
}

function memberName(id: Node): string {
  if (id.type === "Identifier") return id.name;
  return id.type === "Literal" ? String(id.value) : "";
}
