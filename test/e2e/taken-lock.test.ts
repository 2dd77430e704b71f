import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openServedWorkspace, type ServedWorkspace } from "../support/served-workspace.ts";
import { until } from "../support/workspace.ts";

let served: ServedWorkspace;

beforeAll(async () => {
  served = await openServedWorkspace("taken");
});
afterAll(() => served.close());

describe("a lock whose holder is at work", () => {
  it("is taken away only by force, and then the holder ends and says who took it", async () => {
    const { user, service } = served;
    service.duration = 3_600_000;
    const running = user.start("apply", "--auto-approve", "--json");
    await running.said("apply_start");
    await until(
      () => user.state("taken").resources["instances.a"]?.converging,
      "the create that is waited for",
    );

    const other = await user.run("apply", "--auto-approve");
    expect(other).toMatchObject({ code: 5, err: expect.stringContaining("it is at work") });
    const id = /graphform state unlock ([0-9a-f]+) --force/.exec(other.err)?.[1] ?? "none";
    const refused = await user.run("state", "unlock", id);
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        new RegExp(`process ${running.child.pid}\\) is at work on apply[\\s\\S]*--force`),
      ),
    });
    expect(user.has(".graphform/taken.state.json.lock")).toBe(true);
    expect(await user.run("state", "unlock", id, "--force")).toMatchObject({ code: 0 });

    const { code, out, err } = await running.ended;
    expect(code).toBe(1);
    const said = new RegExp(
      `the lock ${id} of \\S+ was taken away by \\S+@\\S+ \\(process \\d+\\) for state unlock at 20`,
    );
    expect(err).toMatch(said);
    expect(out).toMatch(said);
    const codes = [...out.matchAll(/"type":"change_summary".*?"exit_code":(\d+)/g)].map(([, exit]) => exit);
    expect(codes.at(-1)).toBe("1");

    for (const instance of service.instances.values()) instance.next = { at: 0, status: "RUNNING" };
    service.duration = 0;
    expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(service.instances.size).toBe(1);
  });
});
