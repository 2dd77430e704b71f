import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { FakeService } from "../support/fake-service.ts";
import { quickProfileFile } from "../support/quick-profile.ts";
import { openWorkspace } from "../support/workspace.ts";

let service: FakeService;

beforeAll(async () => {
  service = await FakeService.start();
});
afterAll(() => service.close());

/**
 * Look-ups of one process as a network without its name servers has them: each holds a thread of the pool that the state
 * is written by, here without an end.
 */
const slowLookUps = (pipe: string): string => `
const dns = require("node:dns");
const { lookup } = dns;
dns.lookup = (name, ...rest) =>
  name.endsWith(".invalid") ? require("node:fs").open(${JSON.stringify(pipe)}, () => undefined) : lookup(name, ...rest);
`;

it("creates databases whose names do not resolve from here, saves each, and ends", async () => {
  service.hostOf = (id) => `${id}.databases.invalid`;
  const numbers = Array.from({ length: 12 }, (_, index) => index);
  const rows = numbers.map(
    (index) =>
      `  a${index}: { tier: pro, component: standalone, cloudProvider: aws, region: us-east-1, config: { name: a${index}, description: words, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: a-password-of-some-length } }`,
  );
  const user = openWorkspace(`
apiVersion: graphform/v1
name: far
service: { profile: ${quickProfileFile}, platformUrl: "${service.url}" }
instances:
${rows.join("\n")}
`);
  const pipe = join(user.dir, "pipe");
  execFileSync("mkfifo", [pipe]);
  user.write("slow.cjs", slowLookUps(pipe));
  Object.assign(user.env, service.env, { NODE_OPTIONS: `--require=${join(user.dir, "slow.cjs")}` });
  try {
    const ran = await user.run("apply", "--auto-approve");
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.out + ran.err).toContain(".databases.invalid:");
    expect(Object.keys(user.state("far").resources)).toHaveLength(numbers.length);
  } finally {
    await user.close();
  }
});
