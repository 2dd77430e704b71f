import { describe, expect, it } from "vitest";
import { type FindRestored, requestRestore } from "../../src/commands/instances/restore.ts";
import { GraphformError, ServiceError, type ServiceFailure } from "../../src/model/errors.ts";

const call = { operation: "instance.restore", params: { id: "instance-1" } };

/** The error that a restore ends with if the service answers like this, and the requests that were sent. */
async function ended(failure: ServiceFailure, wasSent: boolean): Promise<readonly [unknown, number]> {
  let sent = 0;
  const write = (): Promise<never> => {
    sent += 1;
    return Promise.reject(new ServiceError(failure, call.operation, "no answer", { wasSent }));
  };
  const restored = requestRestore({ write }, call, "instances.a", new AbortController().signal);
  return [await restored.catch((error: unknown) => error), sent];
}

describe("a restore whose answer is lost", () => {
  it("is sent once, and names the command that shows a new instance, and the one that binds it", async () => {
    const [error, sent] = await ended("lost", true);
    expect(error).toMatchObject({
      code: "restore-unknown",
      hint: expect.stringMatching(/graphform drift --unmanaged .* graphform import ADDRESS ID$/),
    });
    expect(sent).toBe(1);
  });

  it.each<[string, FindRestored, unknown]>([
    ["gives the new instance that the looks have found", async () => "instance-2", "instance-2"],
    ["made nothing if the looks prove it", async () => undefined, { code: "restore-lost" }],
    [
      "names what may be its instance if the looks prove nothing",
      () =>
        Promise.reject(new GraphformError("create-ambiguous", "the answer to the create of x was lost: i-2")),
      { code: "restore-unknown", message: expect.stringContaining("the restore of x was lost: i-2") },
    ],
  ])("%s", async (_, find, expected) => {
    const write = (): Promise<never> => Promise.reject(new ServiceError("lost", call.operation, "no answer"));
    const restored = requestRestore({ write }, call, "instances.a", new AbortController().signal, find);
    const end = await restored.catch((error: unknown) => error);
    if (typeof expected === "string") expect(end).toBe(expected);
    else expect(end).toMatchObject(expected as object);
  });

  it("is no doubt if the service refused it, or if it never left", async () => {
    expect(await ended("invalid", true)).toMatchObject([{ code: "restore-refused" }, 1]);
    expect((await ended("lost", false))[0]).toBeInstanceOf(ServiceError);
  });
});
