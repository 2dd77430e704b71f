import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { locationAt } from "../../src/project/locate-state.ts";
import { check } from "./check.ts";

/** Parts of every password below; neither may be shown, whatever stands between them. */
const [first, last] = ["Hq7first", "Zt9last"];
const passwords = fc
  .array(
    fc.constantFrom("@", "/", "#", "?", ":", "%", "&", " ", '"', "'", "\\", "é", "x", "1", "%40", "//"),
    {
      maxLength: 8,
    },
  )
  .map((between) => first + between.join("") + last);

/** A password in each position of a manifest where somebody may write one by mistake. */
const manifests: readonly ((password: string) => string)[] = [
  (password) => `state: ${quoted(`postgres://u:${password}@h/d`)}`,
  (password) => `state: [ ${quoted(`postgres://u:${password}@h/d`)} ]`,
  (password) => `state: { type: postgres, host: { url: ${quoted(`postgres://u:${password}@h/d`)} } }`,
  (password) => `state: { type: postgres, host: [ ${quoted(`postgres://u:${password}@h`)} ] }`,
  (password) => `state: { type: postgres, port: ${quoted(`5432 password=${password}`)} }`,
  (password) => `state: { type: postgres, host: ${quoted(`h password=${password}`)} }`,
  (password) => `state: { type: postgres, database: ${quoted(`d password=${password}`)} }`,
  (password) => `state: { type: http, address: ${quoted(`https://u:${password}@h.invalid/x`)} }`,
  (password) => `state: { type: s3, bucket: ${quoted(`s3:/u:${password}@b`)}, endpoint: 7 }`,
  (password) => `service: { platformUrl: ${quoted(`https://u:${password}@h.invalid/x`)}, region: 7 }`,
  (password) => `state: { ${quoted(`https://u:${password}@h.invalid/x`)}: 1 }`,
  (password) =>
    `variables: { a: { default: ${quoted(`https://u:${password}@h/x`)} } }\nstate: { type: s3, bucket: "\${var.a}" }`,
];

/** The same of a section, where nothing tells that a word is a login: passwords in the values of keys, and without a scheme. */
const inSections: readonly ((password: string) => string)[] = [
  ...[
    "secretAccessKey",
    "secret",
    "secret_key",
    "session_token",
    "accessKeyId",
    "token",
    "bearer",
    "pw",
    "mine",
  ].map((key) => (password: string) => `state: { type: s3, bucket: bbb, ${key}: ${quoted(password)} }`),
  (password) =>
    `state:\n  type: 7\n  secret:\n    - ${quoted(password)}\n  bearer: { a: ${quoted(password)} }`,
  (password) => `${quoted("state")}: { type: s3, token: ${quoted(password)}, bucket: 7`,
  ...["host", "port", "schema", "database", "sslmode", "type"].flatMap((key) => [
    (password: string) => `state: { backend: postgres, ${key}: ${quoted(`u:${password}@h`)}, x: 1 }`,
    (password: string) => `state: { backend: postgres, ${key}: ${quoted(`u:p/${password}@5432`)}, x: 1 }`,
  ]),
  (password) => `state: { type: http, address: "https://h/x", lockAddress: ${quoted(`u:${password}@h`)} }`,
  (password) => `state: { type: s3, bucket: ${quoted(`AK:${password}@b`)} }`,
  (password) => `state: { type: s3, bucket: bbb, region: ${quoted(`AK:${password}@b`)} }`,
  (password) => `state: ${quoted(`u:${password}@h`)}`,
  (password) => `state: ${quoted(`postgres://u:${password.replaceAll("@", "")}`)}`,
  (password) => `state: { type: postgres, ${quoted(`password=${password}`)}: 1 }`,
  (password) => `state: { type: postgres, ${quoted(`u:${password}@h`)}: 1 }`,
  (password) =>
    `state: { type: s3, bucket: bbb, endpoint: ${quoted(`s3://b/k?endpoint=${encodeURIComponent(`https://u:${password}@h`)}`)} }`,
];

const quoted = JSON.stringify;

describe("a password in an address", () => {
  it.each([...manifests, ...inSections].map((manifest, position) => [position, manifest] as const))(
    "is in no problem of a manifest: position %i",
    async (_, manifest) => {
      await fc.assert(
        fc.asyncProperty(passwords, async (password) => {
          const text = `apiVersion: graphform/v1\nname: shop\nunknown: 1\n${manifest(password)}\n`;
          const { problems } = await check(text);
          expect(problems.length).toBeGreaterThan(0);
          const shown = JSON.stringify(problems);
          expect(shown).not.toContain(first);
          expect(shown).not.toContain(last);
        }),
        { numRuns: 25 },
      );
    },
  );

  it.each([
    "https://",
    "https:/",
    "https:",
    "s3://",
    "postgres://",
    "postgres:",
    "postgres//",
    "ftp://",
    "",
    "u:a/",
  ])("is in no refusal of a location: %s", (scheme) => {
    fc.assert(
      fc.property(passwords, (password) => {
        let shown = "";
        try {
          locationAt(`${scheme}u:${password}@h.invalid/x`, "shop");
        } catch (error) {
          shown = `${String(error)} ${JSON.stringify(error)}`;
        }
        expect(shown).not.toBe("");
        expect(shown).not.toContain(first);
        expect(shown).not.toContain(last);
      }),
    );
  });

  it.each(["s3://b/k?endpoint=", "s3://b/k?x=", "s3:b?endpoint="])(
    "is in no refusal of a location that has it percent-encoded: %s",
    (address) => {
      fc.assert(
        fc.property(passwords, (password) => {
          const login = encodeURIComponent(`https://u:${password}@h`);
          let shown = "";
          try {
            locationAt(address + login, "shop");
          } catch (error) {
            shown = `${String(error)} ${JSON.stringify(error)}`;
          }
          expect(shown).not.toBe("");
          expect(shown).not.toContain(first);
          expect(shown).not.toContain(last);
        }),
      );
    },
  );

  it.each(["secret", "token", "mine"])("of three characters is not shown: %s", async (key) => {
    const { problems } = await check(
      `apiVersion: graphform/v1\nname: shop\nstate: { type: s3, bucket: bbb, ${key}: Zq9 }\n`,
    );
    expect(problems.length).toBeGreaterThan(0);
    expect(JSON.stringify(problems)).not.toContain("Zq9");
  });
});
