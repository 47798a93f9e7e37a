import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { createSigning, NO_SIGNING, type SignedVersion } from "./signature.ts";

function makeKeys(type: "ed25519" | "x25519" = "ed25519"): { privateKey: string; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync(type as "ed25519");
  return {
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
}

const version: SignedVersion = {
  sourceHash: "ab".repeat(32),
  text: "return 1",
  source: undefined,
  parameters: { type: "object", properties: {} },
  toolsUsed: ["fs:read"],
};

test("sign without a key gives the hash of the source", () => {
  expect(NO_SIGNING.sign(version)).toBe(`sha256:${version.sourceHash}`);
  expect(NO_SIGNING.verify(version, NO_SIGNING.sign(version))).toBe("unsigned");
  expect(NO_SIGNING.verify(version, undefined)).toBe("unsigned");
});

test("verify trusts its own key and listed ones, and says so of others", () => {
  const mine = makeKeys();
  const signing = createSigning({ privateKey: mine.privateKey, trusted: [] });
  const signature = signing.sign(version);
  expect(signature).toMatch(/^sha256:(ab){32};ed25519:[0-9a-f]{16}:/);
  expect(signing.verify(version, signature)).toBe("trusted");
  expect(createSigning({ trusted: [mine.publicKey] }).verify(version, signature)).toBe("trusted");
  expect(NO_SIGNING.verify(version, signature)).toBe("unknown_key");
});

test.each<[string, Partial<SignedVersion>]>([
  ["text", { text: "return 2" }],
  ["parameters", { parameters: {} }],
  ["tools", { toolsUsed: [] }],
  ["source", { source: { type: "dag" } }],
])("verify refuses another %s", (_what, changed) => {
  const signing = createSigning({ privateKey: makeKeys().privateKey, trusted: [] });
  const signature = signing.sign(version);
  expect(() => signing.verify({ ...version, ...changed }, signature)).toThrow(/is not what was signed/);
});

test("verify refuses the hash of another source and unknown formats, with or without a key", () => {
  expect(() => NO_SIGNING.verify(version, `sha256:${"cd".repeat(32)}`)).toThrow(/another source/);
  expect(() => NO_SIGNING.verify(version, "md5:1")).toThrow(/unknown format/);
});

test("createSigning says what is wrong with a key", () => {
  expect(() => createSigning({ privateKey: "nothing", trusted: [] })).toThrow(/cannot be read/);
  expect(() => createSigning({ trusted: [makeKeys("x25519").publicKey] })).toThrow(/x25519, not Ed25519/);
});
