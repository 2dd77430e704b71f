import { describe, expect, it } from "vitest";
import { declareObjects } from "../../src/commands/import/declare-objects.ts";
import { user } from "../../src/kinds/user.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { Reads } from "../../src/model/service.ts";
import { testProfile } from "../manifest/test-profile.ts";

const signal = new AbortController().signal;

/** A users host that shows access lists as somebody has written them there. */
function showing(users: readonly JsonObject[]): Reads {
  return {
    profile: testProfile,
    hide: (text) => text,
    offers: () => true,
    date: () => undefined,
    read: async () => ({ body: {}, values: { items: users } }),
  };
}

describe("a user whose access list holds a password", () => {
  const service = showing([{ username: "reader", acl: "on ~* >hunter2 '#hunter3 x' hunter4 +PING" }]);
  const place = { instance: "i-1", username: "reader" };

  it("is seen without it, and as another than any that can be declared", async () => {
    const live = await user.reader(service).get({ id: "i-1/reader", place }, signal);
    expect(live?.spec["acl"]?.value).toBe("on ~* *** *** *** +PING");
    expect(JSON.stringify(live)).not.toMatch(/hunter/);
  });

  it("is imported without it", async () => {
    const live = await user.reader(service).get({ id: "i-1/reader", place }, signal);
    const written = declareObjects(live === undefined ? [] : [{ kind: user, live, place }]);
    expect(written).toMatchObject([{ id: "i-1/reader", spec: { acl: "on ~* *** *** *** +PING" } }]);
    expect(JSON.stringify(written)).not.toMatch(/hunter/);
  });
});
