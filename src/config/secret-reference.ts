import { readFileSync } from "node:fs";
import { PmlError } from "../base/errors.ts";
import { type Environment, environment } from "./environment.ts";
import type { SecretReference } from "./schema.ts";

/** Reads the referenced secret each time, so that a changed one applies at once. */
export function readSecret(reference: SecretReference, env: Environment = environment): string {
  if ("env" in reference) {
    const value = env[reference.env];
    if (value !== undefined && value !== "") return value;
    throw new PmlError("config_invalid", `${reference.env} is not set`, {
      hint: "Set it where PML is started: pml down, then pml up",
    });
  }
  try {
    return readFileSync(reference.file, "utf8").trim();
  } catch (cause) {
    throw new PmlError("config_invalid", `The file ${reference.file} cannot be read`, {
      hint: "Check its name and that PML may read it",
      cause,
    });
  }
}
