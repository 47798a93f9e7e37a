import { describeApi } from "../../src/contract/openapi.ts";

export function renderOpenApi(): string {
  return `${JSON.stringify(describeApi(), null, 2)}\n`;
}
