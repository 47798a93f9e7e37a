import { z } from "zod";
import { access, file, TODAY, type WorldState } from "../entities.ts";
import { getEntry, toolsOf, WorldError } from "../world-tool.ts";

type Files = WorldState["files"];

const tool = toolsOf<Files>();
const path = z.string().describe("Path of a file, like reports/march.txt.");
const target = z.string().describe("The new path, with the name of the file.");
const listed = file.omit({ content: true, shares: true });
const kept = z.object({ path, size: z.number().int().describe("Characters.") });

function put({ files }: Files, at: string, content: string): z.infer<typeof kept> {
  const known = files[at] ?? { tags: [], shares: [] };
  files[at] = { ...known, path: at, name: nameOf(at), content, modified: TODAY };
  return { path: at, size: content.length };
}

function nameOf(at: string): string {
  return at.slice(at.lastIndexOf("/") + 1);
}

function refuseTaken({ files }: Files, at: string): void {
  if (Object.hasOwn(files, at)) throw new WorldError(`There is a file ${at} already`);
}

const inOrder = (a: { readonly path: string }, b: { readonly path: string }): number => (a.path < b.path ? -1 : 1);

export const filesTools = [
  tool({
    name: "list_files",
    description: "List the files directly in a folder.",
    effect: "read",
    input: z.object({ folder: z.string().describe("Without a slash at the end.") }),
    output: z.object({ files: z.array(listed) }),
    run: ({ files }, { folder }) => ({
      files: Object.values(files)
        .filter((each) => each.path === `${folder}/${each.name}`)
        .toSorted(inOrder)
        .map((each) => listed.parse(each)),
    }),
  }),
  tool({
    name: "read_file",
    description: "Read the content of a file.",
    effect: "read",
    input: z.object({ path }),
    output: file,
    run: ({ files }, given) => getEntry(files, "file", given.path),
  }),
  tool({
    name: "stat_file",
    description: "Tell whether a file exists, and how long it is.",
    effect: "read",
    input: z.object({ path }),
    output: z.object({ exists: z.boolean(), size: z.number().int() }),
    run: ({ files }, given) => ({
      exists: Object.hasOwn(files, given.path),
      size: files[given.path]?.content.length ?? 0,
    }),
  }),
  tool({
    name: "search_files",
    description: "Find the files whose content has a word.",
    effect: "read",
    input: z.object({ query: z.string().min(1), folder: z.string().optional() }),
    output: z.object({ matches: z.array(listed) }),
    run: ({ files }, { query, folder }) => ({
      matches: Object.values(files)
        .filter((each) => folder === undefined || each.path.startsWith(`${folder}/`))
        .filter(({ content }) => content.toLowerCase().includes(query.toLowerCase()))
        .toSorted(inOrder)
        .map((each) => listed.parse(each)),
    }),
  }),
  tool({
    name: "write_file",
    description: "Write a file; what it held before is replaced.",
    effect: "write",
    input: z.object({ path, content: z.string() }),
    output: kept,
    run: (state, given) => put(state, given.path, given.content),
  }),
  tool({
    name: "append_file",
    description: "Add a line to the end of a file that exists.",
    effect: "write",
    input: z.object({ path, text: z.string() }),
    output: kept,
    run: (state, given) =>
      put(state, given.path, `${getEntry(state.files, "file", given.path).content}\n${given.text}`),
  }),
  tool({
    name: "copy_file",
    description: "Copy a file to another path.",
    effect: "write",
    input: z.object({ path, target }),
    output: kept,
    run: (state, given) => {
      refuseTaken(state, given.target);
      return put(state, given.target, getEntry(state.files, "file", given.path).content);
    },
  }),
  tool({
    name: "move_file",
    description: "Move a file to another path, or rename it.",
    effect: "write",
    input: z.object({ path, target }),
    output: file,
    run: ({ files }, given) => {
      const moved = getEntry(files, "file", given.path);
      refuseTaken({ files }, given.target);
      delete files[given.path];
      return (files[given.target] = { ...moved, path: given.target, name: nameOf(given.target) });
    },
  }),
  tool({
    name: "delete_file",
    description: "Delete a file for good.",
    effect: "destroy",
    input: z.object({ path }),
    output: z.object({ deleted: z.string() }),
    run: ({ files }, given) => {
      getEntry(files, "file", given.path);
      delete files[given.path];
      return { deleted: given.path };
    },
  }),
  tool({
    name: "tag_file",
    description: "Give a file a tag.",
    effect: "write",
    input: z.object({ path, tag: z.string().min(1) }),
    output: listed,
    run: ({ files }, given) => {
      const tagged = getEntry(files, "file", given.path);
      tagged.tags = [...new Set([...tagged.tags, given.tag])].toSorted();
      return listed.parse(tagged);
    },
  }),
  tool({
    name: "share_file",
    description: "Give somebody access to a file.",
    effect: "write",
    input: z.object({ path, email: z.email(), access }),
    output: z.object({ path, shares: file.shape.shares }),
    run: ({ files }, given) => {
      const shared = getEntry(files, "file", given.path);
      const others = shared.shares.filter(({ email }) => email !== given.email);
      shared.shares = [...others, { email: given.email, access: given.access }].toSorted((a, b) =>
        a.email < b.email ? -1 : 1,
      );
      return { path: given.path, shares: shared.shares };
    },
  }),
];
