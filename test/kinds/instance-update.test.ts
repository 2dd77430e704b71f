import { describe, expect, it } from "vitest";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { instance } from "../../src/kinds/instance.ts";
import { ServiceError } from "../../src/model/errors.ts";
import type { Service } from "../../src/model/service.ts";
import { always, failure } from "../hosting/service-of.ts";

const profile = await loadProfile("falkordb-cloud");
const ref = { id: "i-1", place: { tier: "pro", component: "standalone" } };

/** A service that takes every write but that of the parameters, which was surely not sent. */
function interruptedBetween(): Service {
  const notSent = new ServiceError("aborted", "instance.update", "interrupted", { wasSent: false });
  return {
    profile,
    hide: (text) => text,
    offers: () => true,
    date: () => undefined,
    read: async () => ({ body: null, values: {} }),
    write: async ({ operation }) => {
      if (operation === "instance.update") throw notSent;
      return { body: null, values: {} };
    },
  };
}

describe("an update that takes two requests", () => {
  it.each([
    [
      "may have worked where the first one was taken",
      { deletionProtection: true, "config.description": "new" },
      true,
    ],
    ["did nothing where there is no first one", { "config.description": "new" }, false],
  ])("%s", async (_, patch, mayHaveWorked) => {
    const error = await failure(instance.driver(interruptedBetween()).update(ref, patch, always));
    expect(error).toMatchObject({ failure: "aborted", mayHaveWorked });
  });
});
