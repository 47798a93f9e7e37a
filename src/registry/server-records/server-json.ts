import { z } from "zod";
import { PmlError } from "../../base/errors.ts";

/** Extension point for PML's own fields; registries pass it on unchanged. */
export const PUBLISHER_META = "io.modelcontextprotocol.registry/publisher-provided";

export const SERVER_JSON_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

const uri = z.string().refine((text) => URL.canParse(text), "must be a URL");
const RANGE = /^[\^~<>=]|\s|\|\||(^|\.)[x*](\.|$)/i;
const exactVersion = z
  .string()
  .min(1)
  .max(255)
  .refine((text) => text !== "latest" && !RANGE.test(text), "must be one exact version, not a range or `latest`");
const urlTemplate = z
  .string()
  .regex(/^(https?:\/\/\S+|\{[a-zA-Z_][a-zA-Z0-9_]*\}\S*)$/, "must be an http(s) URL or begin with a {variable}");

const inputFields = {
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  format: z.enum(["string", "number", "boolean", "filepath"]).optional(),
  value: z.string().optional(),
  default: z.string().optional(),
  placeholder: z.string().optional(),
  choices: z.array(z.string()).optional(),
};
const input = z.looseObject(inputFields);
const variables = z.record(z.string(), input).optional();
const namedInput = z.looseObject({ ...inputFields, name: z.string(), variables });

const argument = z.discriminatedUnion("type", [
  z.looseObject({
    ...inputFields,
    type: z.literal("named"),
    name: z.string(),
    isRepeated: z.boolean().optional(),
    variables,
  }),
  z
    .looseObject({
      ...inputFields,
      type: z.literal("positional"),
      valueHint: z.string().optional(),
      isRepeated: z.boolean().optional(),
      variables,
    })
    .refine(({ value, valueHint }) => value !== undefined || valueHint !== undefined, "needs `value` or `valueHint`"),
]);

const overHttp = z.looseObject({
  type: z.enum(["streamable-http", "sse"]),
  url: urlTemplate,
  headers: z.array(namedInput).optional(),
});

const serverPackage = z
  .looseObject({
    registryType: z.string().min(1),
    registryBaseUrl: uri.optional(),
    identifier: z.string().min(1),
    version: exactVersion.optional(),
    fileSha256: z
      .string()
      .regex(/^[a-f0-9]{64}$/, "must be 64 hexadecimal digits")
      .optional(),
    runtimeHint: z.string().optional(),
    runtimeArguments: z.array(argument).optional(),
    packageArguments: z.array(argument).optional(),
    environmentVariables: z.array(namedInput).optional(),
    transport: z.union([z.looseObject({ type: z.literal("stdio") }), overHttp]),
  })
  .refine(({ registryType, fileSha256 }) => registryType !== "mcpb" || fileSha256 !== undefined, {
    path: ["fileSha256"],
    message: "is required for mcpb packages",
  });

const icon = z.looseObject({
  src: uri.max(255).refine((text) => text.startsWith("https://"), "must be an https:// URL"),
  mimeType: z.enum(["image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp"]).optional(),
  sizes: z.array(z.string().regex(/^(\d+x\d+|any)$/)).optional(),
  theme: z.enum(["light", "dark"]).optional(),
});

/** Requirements of the official registry for a `server.json`; unknown fields are legal and preserved. */
const serverJson = z.looseObject({
  $schema: uri.optional(),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/, "must be a reverse domain, one slash and a name: com.example/weather"),
  title: z.string().min(1).max(100).optional(),
  description: z.string().min(1).max(100),
  version: exactVersion,
  websiteUrl: uri.optional(),
  icons: z.array(icon).optional(),
  repository: z
    .looseObject({
      url: uri,
      source: z.string().min(1),
      id: z.string().optional(),
      subfolder: z
        .string()
        .refine(
          (path) => !path.startsWith("/") && !path.split("/").includes(".."),
          "must be a path below the repository",
        )
        .optional(),
    })
    .optional(),
  packages: z.array(serverPackage).optional(),
  remotes: z.array(overHttp.extend({ variables })).optional(),
  _meta: z.looseObject({ [PUBLISHER_META]: z.record(z.string(), z.unknown()).optional() }).optional(),
});

export type ServerJson = z.infer<typeof serverJson>;

/** Validates a `server.json`. Callers store and return the original text. */
export function parseServerJson(text: string): ServerJson {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PmlError("server_json_invalid", `The server.json is not JSON: ${reason}`, { cause });
  }
  const parsed = serverJson.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the whole"}: ${message}`);
  throw new PmlError("server_json_invalid", `The server.json does not follow its schema: ${problems.join("; ")}`, {
    hint: `What is allowed: ${SERVER_JSON_SCHEMA}`,
    details: { problems },
  });
}

/** Derives PML's server name: the last part of the registry name without affixes such as `-mcp-server`. */
export function shortServerName(name: string): string {
  const last = name.slice(name.lastIndexOf("/") + 1).toLowerCase();
  const plain = last.replace(/^(mcp-)?server-|^mcp-|-mcp(-server)?$|-server$/g, "");
  return (plain || last).replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "") || "server";
}
