import { expect, test } from "vitest";
import { redact } from "../base/log.ts";
import { looksOpaque, namesPlainValue, namesSecret, replacePatterns } from "./secret-words.ts";

const hide = (text: string): string => replacePatterns(text, () => "‹hidden›");

test.each([
  ["postgres://app:pass-word@db/prod", "postgres://app:‹hidden›@db/prod"],
  ["see (https://u:p4ssw0rd@host)", "see (https://u:‹hidden›@host)"],
  ["token eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJlMTIz end", "token ‹hidden› end"],
  ["https://host/path:80@x", "https://host/path:80@x"],
])("%s", (text, shown) => {
  expect(hide(text)).toBe(shown);
});

/** Quadratic patterns take minutes for these, so the test would not end in time. */
test.each(["a-", "a.", "eyJaaaaaaaa-", "Bearer ", '"password', "-----BEGIN ", "a://b:", "sk_", "xoxb-"])(
  "a text of many times %s is searched once",
  (part) => {
    const text = part.repeat(1_000_000 / part.length);
    expect(hide(text).length).toBeGreaterThan(0);
    expect(redact(text, []).length).toBeGreaterThan(0);
  },
  20_000,
);

const SECRET_NAMES = `
  password Password PASSWORD db_password dbPassword DB-PASSWORD mysqlpassword passwd passphrase passcode password1 userPwd
  secret clientSecret client_secret CLIENT_SECRET clientsecret secretValue webhook-secret "Client Secret"
  token accessToken access_token ACCESS_TOKEN accesstoken authToken idToken IDToken GITHUBTOKEN token2 tokenValue x-csrf-token
  apiKey api_key API_KEY api-key apikey APIKey OPENAI_API_KEY x-api-key accessKey secretAccessKey aws_secret_access_key
  AWSSecretAccessKey privateKey private_key privateKeyBase64 signingKey encryptionKey accountKey sshKey masterKey
  connectionString connection_string connectionstring MONGO_CONNECTION_STRING
  authorization Authorization proxy-authorization cookie set-cookie sessionCookie cookies credential credentials jwt
`;
const OTHER_NAMES = `
  max_tokens maxTokens tokens totalTokens token_count tokenCount tokenizer token_type tokenEndpoint token_url tokenLimit
  keyboard keyword key keys primaryKey foreign_key sort_key cacheKey publicKey partitionKey monkey hotkey keyId accessKeyId
  api_key_id author authority authenticated secretary secretName secret_arn password_policy passwordless passwordFile
  private_key_path cookie_consent cookiePolicy string connection pwd PWD path id name description compass passenger
`;

test.each([
  [true, SECRET_NAMES],
  [false, OTHER_NAMES],
])("namesSecret is %s for each of these names", (expected, names) => {
  const words = names.match(/"[^"]+"|\S+/g)?.map((name) => name.replaceAll('"', "")) ?? [];
  expect(words.filter((name) => namesSecret(name) !== expected)).toEqual([]);
});

test("looksOpaque knows values that nobody writes by hand from words, paths, addresses and options", () => {
  const opaque = [
    "4f9c2d1e7a8b",
    "Tr0ub4dor&3xyz!",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCY",
    "a8f5-k2m9-q7z1-p3x6",
    "0x1f4abc9d2e7",
  ];
  const plain = [
    "production",
    "eu-central-1",
    "Europe/Berlin",
    "10.0.0.1:8080",
    "utf8_unicode_ci",
    "claude-sonnet-4-20250514",

    "/home/me/notes-2024x9/a1b2c3d4",
    "./data/a1b2c3d4e5f6",
    String.raw`C:\\a1b2c3d4e5f6`,
    "https://a1b2c3d4.example.com/x",

    "--max-old-space-size=4096",
    '{"a1":"b2c3d4e5f6"}',
    "me123@example.com",
    "*/5 * * * * x1y2z3",
    "short1",
    "12345678901234",
  ];
  expect([opaque.filter((value) => !looksOpaque(value)), plain.filter(looksOpaque)]).toEqual([[], []]);
});

test("namesPlainValue knows variables with an identity, an address or a place", () => {
  expect(["AZURE_TENANT_ID", "PROJECT_NAME", "DB_HOST", "dataDir", "AWS_REGION"].filter(namesPlainValue)).toHaveLength(
    5,
  );
  expect(["ACME", "ACME_LOGIN", "PIN"].filter(namesPlainValue)).toEqual([]);
});
