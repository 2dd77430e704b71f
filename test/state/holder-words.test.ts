import { describe, expect, it } from "vitest";
import { heldByAnother, holderWith, unknownLock } from "../../src/state/lock-words.ts";
import { holderOf } from "../../src/state/remote/lock-info.ts";

const store = { where: "https://store.test/orders", expires: false };

describe("the refusal of a held lock", () => {
  it("says nothing of a holder that the store does not name, and offers no id", () => {
    const refusal = heldByAnother(store, holderWith({}), 60_000);
    expect(refusal.message).toBe("the state https://store.test/orders is locked: somebody has held it");
    expect(refusal.hint).toMatch(/does not show the id of its lock.*remove the lock at the store itself$/);
    expect(unknownLock(store.where, "17", holderWith({})).hint).not.toContain("state unlock");
  });

  it("leaves out process and command where the store shows id, user and time alone, as GitLab does", () => {
    const holder = holderOf({ ID: "4711", Who: "ann", Created: "2026-11-22 10:00:00 UTC" }) ?? holderWith({});
    const refusal = heldByAnother(store, holder, 60_000);
    expect(refusal.message).toBe(
      "the state https://store.test/orders is locked: ann has held it since 2026-11-22T10:00:00.000Z",
    );
    expect(refusal.hint).toMatch(/run: graphform state unlock 4711$/);
  });

  it("tells the age by the store's clock, and otherwise the time alone", () => {
    const at = "2026-11-22T10:00:00.000Z";
    const holder = holderWith({ id: "17", created: at, heartbeat: at, expires: "2026-11-22T10:01:00.000Z" });
    const leased = { where: store.where, expires: true };
    expect(heldByAnother(leased, holder, 7000).message).toMatch(/and was last seen 7 s ago$/);
    expect(heldByAnother(leased, holder, undefined).message).toMatch(`and was last seen at ${at}`);
  });

  it("repeats a foreign id as one word of a shell, and a name only in part", () => {
    const holder = { ...holderWith({ id: "x; rm -rf /" }), who: "a".repeat(5000) };
    for (const expires of [true, false]) {
      const refusal = heldByAnother({ where: store.where, expires }, holder, undefined);
      expect(refusal.hint).toContain("graphform state unlock 'x; rm -rf /'");
      expect(refusal.message.length).toBeLessThan(300);
    }
    expect(unknownLock(store.where, "17", holder).hint).toContain("state unlock 'x; rm -rf /'");
  });
});
