import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Mischief, SeenRequest } from "../support/fake-service.ts";
import { openServedWorkspace, type ServedWorkspace } from "../support/served-workspace.ts";

let served: ServedWorkspace;

async function open(): Promise<void> {
  served = await openServedWorkspace("timed");
}

/** Runs a command with `--timeout 1s`. Without the limit, each would wait for longer than a test may take. */
async function limited(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly said: string }> {
  const { code, out, err } = await served.user.run(...args, "--timeout", "1s");
  return { code, said: out + err };
}

const apply = ["apply", "--auto-approve"];

function only(
  operation: string,
  mischief: Mischief | undefined,
): (request: SeenRequest) => Mischief | undefined {
  return (request) => (request.operation === operation ? mischief : undefined);
}

const full = { status: 429, headers: { "retry-after": "300" } };
const away = { status: 503, headers: { "retry-after": "300" } };

describe("--timeout ends what an answer is waited for, exit 7", () => {
  beforeAll(async () => {
    await open();
    expect(await served.user.run(...apply)).toMatchObject({ code: 0 });
  });
  afterAll(() => served.close());

  const commands = [
    ["plan"],
    ["drift"],
    apply,
    ["destroy", "--auto-approve"],
    ["import", "--all"],
    ["instance", "restart", "instances.a"],
    ["login"],
    ["snapshot", "list"],
  ];

  it.each(commands.map((words) => [words] as const))("of a sign-in without an answer: %j", async (args) => {
    served.service.misbehave = only("signin", "hang");
    const { code, said } = await limited(...args);
    expect([code, said]).toEqual([7, expect.stringContaining("time")]);
  });

  it.each([
    ["a list that never comes", "list", "hang"],
    ["a describe that never comes", "describe", "hang"],
    ["a service that is full", "describe", full],
    ["a service that is away", "describe", away],
    ["a sign-in that is refused for a while", "signin", full],
  ] as const)("of %s", async (_, operation, mischief) => {
    served.service.misbehave = only(operation, mischief);
    for (const command of [["plan"], apply]) {
      const { code, said } = await limited(...command);
      expect([code, said]).toEqual([7, expect.stringContaining("--timeout")]);
    }
  });
});

describe("--timeout ends every wait of a step, exit 7", () => {
  beforeEach(open);
  afterEach(() => served.close());

  it.each([
    ["a create whose answer is lost, where lists may lag", "create", "cut"],
    ["a create whose answer is lost after its work", "create", "cut-after"],
    ["a create without an answer", "create", "hang"],
    ["a create that the service has no room for", "create", full],
    ["a create of a service that is away", "create", away],
  ] as const)("of %s, and the next run goes on", async (_, operation, mischief) => {
    served.service.misbehave = only(operation, mischief);
    const { code, said } = await limited(...apply);
    expect([code, said]).toEqual([7, expect.stringContaining("instances.a")]);
    await limited("plan");
    served.service.behave();
    expect(Object.keys(served.user.state("timed").intents).length).toBeLessThanOrEqual(1);
  });

  it.each([
    ["an update without an answer", "update", "hang"],
    [
      "an update that is refused for now",
      "update",
      { status: 409, body: '{"name":"invalid_state","message":"operation is already in progress"}' },
    ],
    ["a describe that fails after the update", "describe", undefined],
  ] as const)("of %s", async (_, operation, mischief: Mischief | undefined) => {
    expect(await served.user.run(...apply)).toMatchObject({ code: 0 });
    served.user.write(
      "graphform.yaml",
      served.user.read("graphform.yaml").replace("name: a,", "name: a, description: new,"),
    );
    let updated = false;
    served.service.misbehave = (request) => {
      if (request.operation === "update") updated = true;
      if (mischief === undefined) return updated && request.operation === "describe" ? away : undefined;
      return request.operation === operation ? mischief : undefined;
    };
    const { code, said } = await limited(...apply);
    expect([code, said]).toEqual([7, expect.stringContaining("instances.a")]);
  });

  it("of backups that are never listed, and of a deletion that hangs", async () => {
    served.user.write(
      "graphform.yaml",
      served.user
        .read("graphform.yaml")
        .replace("tier: free\n    component: free", "tier: pro\n    component: standalone")
        .replace("name: a,", "name: a, nodeInstanceType: m7g.large,")
        .replace("    config:", "    lifecycle: { protect: false, onDelete: backup }\n    config:"),
    );
    expect(await served.user.run(...apply)).toMatchObject({ code: 0 });
    served.service.misbehave = ({ path }) => (path.includes("snapshot") ? "hang" : undefined);
    const backed = await limited("destroy", "--auto-approve");
    expect(backed.code).toBe(7);
    served.service.misbehave = only("delete", "hang");
    served.user.write(
      "graphform.yaml",
      served.user.read("graphform.yaml").replace("onDelete: backup", "onDelete: delete"),
    );
    expect(await served.user.run(...apply)).toMatchObject({ code: 0 });
    const deleted = await limited("destroy", "--auto-approve");
    expect(deleted.code).toBe(7);
  });
});
