import type { Style } from "./style.ts";

/** The ways in which a program reaches its tools, and what it declares for them. */
export class ToolAccess {
  readonly #style: Style;
  readonly #declare: (stem: string) => string;
  readonly #servers = new Map<string, string>();
  readonly #helpers = new Map<string, { readonly name: string; readonly text: string }>();

  constructor(style: Style, declare: (stem: string) => string) {
    this.#style = style;
    this.#declare = declare;
  }

  reach(server: string, tool: string): string {
    const { access, quote } = this.#style;
    if (access === "direct") return `mcp.${server}.${tool}`;
    if (access === "brackets") return `mcp[${quote}${server}${quote}][${quote}${tool}${quote}]`;
    return `${this.#server(server)}.${tool}`;
  }

  #server(server: string): string {
    const name = this.#servers.get(server) ?? this.#declare(this.#style.access === "alias" ? `${server}Api` : server);
    this.#servers.set(server, name);
    return name;
  }

  /** A function of the program around one tool. */
  helper(server: string, tool: string, keys: readonly string[]): string {
    const id = [server, tool, ...keys].join(" ");
    const known = this.#helpers.get(id);
    if (known !== undefined) return known.name;
    const name = this.#declare(tool.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()));
    const call = `${this.reach(server, tool)}({ ${keys.join(", ")} })`;
    const text =
      this.#style.helpers === "arrow"
        ? `const ${name} = async (${keys.join(", ")}) => ${call};`
        : `async function ${name}(${keys.join(", ")}) {\n  return await ${call};\n}`;
    this.#helpers.set(id, { name, text });
    return name;
  }

  declarations(): string[] {
    const servers = [...this.#servers].map(([server, name]) => {
      if (this.#style.access === "alias") return `const ${name} = mcp.${server};`;
      return name === server ? `const { ${server} } = mcp;` : `const { ${server}: ${name} } = mcp;`;
    });
    return [...servers, ...[...this.#helpers.values()].map(({ text }) => text)];
  }
}
