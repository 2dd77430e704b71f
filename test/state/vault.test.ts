import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { isSealed } from "../../src/model/sealed.ts";
import { createVault, newKey } from "../../src/state/vault.ts";

const secret = "correct horse battery staple";

describe("createVault", () => {
  it("gives equal secrets of one state equal fingerprints, and of two states different ones", () => {
    const key = newKey();
    const [one, same, other] = [createVault(key), createVault(key), createVault(newKey())];
    expect(one.seal(secret, "secret.word")).toEqual(same.seal(secret, "secret.word"));
    expect(one.seal(secret, "secret.word")).not.toEqual(other.seal(secret, "secret.word"));
    expect(one.seal(secret, "secret.word")).not.toEqual(one.seal(`${secret} `, "secret.word"));
  });

  it("seals as HMAC-SHA256 under the state's key", () => {
    // RFC 4231, test case 2, with its key filled up with zeros as HMAC does.
    const key = Buffer.from("Jefe").toString("hex").padEnd(64, "0");
    const sealed = createVault(key).seal("what do ya want for nothing?", "secret.word");
    expect(isSealed(sealed)).toBe(true);
    expect(sealed.$secret).toBe(
      "hmac-sha256:5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    );
  });

  it("opens what this run has sealed and nothing else", () => {
    const key = newKey();
    const vault = createVault(key);
    const sealed = vault.seal(secret, "secret.word");
    expect(vault.open(sealed)).toBe(secret);
    expect(createVault(key).open(sealed)).toBeUndefined();
    expect(vault.open({ $secret: "toString" })).toBeUndefined();
    expect([...vault.texts()]).toEqual([secret]);
  });

  it("shows neither its secrets nor its key, however it is printed", () => {
    const key = newKey();
    const vault = createVault(key);
    vault.seal(secret, "secret.word");
    const shown = [
      inspect(vault, { showHidden: true, depth: Number.POSITIVE_INFINITY, showProxy: true }),
      JSON.stringify(vault),
      JSON.stringify(Object.entries(vault)),
      `${vault}`,
      Object.values(vault).map(String).join(),
    ].join("\n");
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain(key);
  });

  it.each([
    ["nothing", ""],
    ["a short key", "ab"],
    ["no hex", "x".repeat(64)],
  ])("refuses %s as key", (_, key) => {
    expect(() => createVault(key)).toThrowError(expect.objectContaining({ code: "vault-key" }));
  });
});
