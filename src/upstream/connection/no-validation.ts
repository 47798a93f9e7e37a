import type { jsonSchemaValidator } from "@modelcontextprotocol/client";

/**
 * Accepts every value: the SDK would compile schemas of others, patterns included, in the serving thread. Servers and
 * clients check their own.
 */
export const noValidation: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};
