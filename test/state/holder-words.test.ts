import { describe, expect, it } from "vitest";
import { locked, unknownLock } from "../../src/state/remote/remote-trouble.ts";
import { holderOf, unknownHolder } from "../../src/state/remote/wire/lock-info.ts";

const store = { where: "https://store.test/orders", expires: false };

describe("the refusal of a held lock", () => {
  it("says nothing of a holder that the store does not name, and offers no id", () => {
    const refusal = locked(store, unknownHolder(), 60_000);
    expect(refusal.message).toBe("the state https://store.test/orders is locked: somebody has held it");
    expect(refusal.hint).toMatch(/does not show the id of its lock.*remove the lock at the store itself$/);
    expect(unknownLock(store.where, "17", unknownHolder()).hint).not.toContain("state unlock");
  });

  it("leaves out process and command where the store shows id, user and time alone, as GitLab does", () => {
    const holder =
      holderOf({ ID: "4711", Who: "ann", Created: "2026-11-22 10:00:00 UTC" }) ?? unknownHolder();
    const refusal = locked(store, holder, 60_000);
    expect(refusal.message).toBe(
      "the state https://store.test/orders is locked: ann has held it since 2026-11-22T10:00:00.000Z",
    );
    expect(refusal.hint).toMatch(/run: graphform state unlock 4711$/);
  });
});
