import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { engines, openTestDatabase } from "../../../test/support/databases.ts";
import { DEFAULT_SCOPE } from "../../registry/scope.ts";
import { createSeal } from "../../secrets/seal.ts";
import { Secrets } from "../../secrets/secrets.ts";
import { type Credential, Credentials } from "./credential.ts";

const login: Credential = {
  issuer: "https://login.example",
  client: { client_id: "client-1", issuer: "https://login.example" },
  tokens: { access_token: "first", token_type: "Bearer", refresh_token: "once", issuer: "https://login.example" },
  discovery: { authorizationServerUrl: "https://login.example" },
};

describe.each(engines)("a login that several gateways use, on %s", (engine) => {
  test("is renewed by one of them, also when another read it before and asks after that", async () => {
    await using client = await openTestDatabase(engine);
    const seal = createSeal(randomBytes(32));
    const secrets = new Secrets();
    const key = { scope: DEFAULT_SCOPE, server: "docs", url: "https://docs.example/mcp" };
    const [here, there] = [1, 2].map(() => new Credentials(client.db, key, { getSeal: () => seal, secrets }));
    if (here === undefined || there === undefined) throw new Error("two gateways");
    await here.save(login);
    const [seenHere, seenThere] = [await here.find(), await there.find()];
    if (seenHere === undefined || seenThere === undefined) throw new Error("the login is stored");

    expect(await here.claimRenewal(seenHere)).toBe(true);
    expect(await there.claimRenewal(seenThere)).toBe(false);
    await here.endRenewal(seenHere);
    expect(await there.claimRenewal(seenThere)).toBe(true);
    await there.save({ ...seenThere, tokens: { ...login.tokens, access_token: "second", token_type: "Bearer" } });
    expect(await here.claimRenewal(seenHere)).toBe(false);
    expect((await here.find())?.tokens?.access_token).toBe("second");
  });
});
