import { readSecretKey } from "../config/environment.ts";
import type { Config } from "../config/load-config.ts";
import { readSecret } from "../config/secret-reference.ts";
import type { SecretReference } from "../config/schema.ts";
import { resolveSecretKey } from "../secrets/secret-key.ts";
import { Secrets } from "../secrets/secrets.ts";

/**
 * The secrets of this gateway's own configuration. Those of servers and logins follow as they are read.
 * @param keys of the gateway itself: its token and its decision key
 */
export function openSecrets(config: Config, ...keys: readonly string[]): Secrets {
  const { database, home, curation, discovery } = config;
  const value = readSecretKey();
  // Without a key of its own a shared database still gets runs, which only this gateway can resume then.
  const secrets = new Secrets(() => resolveSecretKey({ value, file: config.secrets.keyFile, home, shared: false }));
  secrets.know("gateway", [...keys, value, ...databasePassword(database.url)]);
  secrets.know("models", [curation.model, discovery.endpoint].flatMap(readKey));
  return secrets;
}

/** The password as the URL spells it, and as it is. */
function databasePassword(url: string | undefined): string[] {
  const [, password] = /^[a-z]+:\/\/[^/@]*:([^/@]+)@/i.exec(url ?? "") ?? [];
  if (password === undefined) return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

/** A key that cannot be read is reported where it is needed. */
function readKey(settings: unknown): string[] {
  const { apiKey } = Object(settings) as { apiKey?: SecretReference };
  try {
    return apiKey === undefined ? [] : [readSecret(apiKey)];
  } catch {
    return [];
  }
}
