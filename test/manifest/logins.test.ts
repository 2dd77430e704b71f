import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { holdsLogin, loginsIn, withoutLogin } from "../../src/model/login.ts";
import { locationAt } from "../../src/project/location-address.ts";
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

const quoted = JSON.stringify;

describe("a password in an address", () => {
  it.each(manifests.map((manifest, position) => [position, manifest] as const))(
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

  it.each(["https://", "https:/", "https:", "s3://", "postgres://", "postgres:", "postgres//", "ftp://"])(
    "is in no refusal of a location: %s",
    (scheme) => {
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
    },
  );

  it.each([
    ["postgres://u:p@w12/3secret@h/d", "postgres://***@h/d"],
    ["postgres://u:x@h/d?password=a@b", "postgres://***"],
    ["host=h password='p w' user=u", "host=h password=***"],
    ["https://h/x?private_token=t", "https://h/x?private_token=***"],
    ["https:/u:pw@h", "https:/***@h"],
    ["https://h/x", "https://h/x"],
    ["ada@ci-7", "ada@ci-7"],
  ])("is masked up to the last @, and after password=: %s", (text, shown) => {
    expect(withoutLogin(text)).toBe(shown);
    expect(holdsLogin(text)).toBe(text !== shown);
    expect(loginsIn(text).length > 0).toBe(text !== shown);
  });
});
