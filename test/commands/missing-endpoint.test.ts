import { expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { topologyOf } from "../support/cloud.ts";
import { cloudBench } from "./cloud-bench.ts";
import { run } from "./harness.ts";

const manifest = `instances:
  one:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: one, graphdbUser: app, graphdbPassword: "\${secret.pw}" }
outputs: { url: "falkor://\${instances.one.endpoint}" }
`;
const entry = topologyOf("instance-1")["r-node"] ?? {};
const observer = topologyOf("instance-1")["r-aaa"] ?? {};

it.each([
  [
    "no port for the host",
    { "r-aaa": observer, "r-node": { ...entry, clusterPorts: [] } },
    "instances.one has no endpoint: the service shows the host node.instance-1.example.com in the entry node-sz and no usable port for it (clusterPorts.0)",
  ],
  [
    "no address at all",
    { "r-aaa": observer },
    "instances.one has no endpoint: the service shows no address of it",
  ],
])(
  "an output of an endpoint is not left out silently where the service shows %s",
  async (_, topology, said) => {
    const bench = await cloudBench(manifest);
    const show = (detailedNetworkTopology: JsonObject): void => {
      const [instance] = bench.cloud.instances;
      if (instance !== undefined)
        bench.cloud.instances[0] = { ...instance, shown: { ...instance.shown, detailedNetworkTopology } };
    };
    bench.cloud.meddle = () => void show(topology);
    const plain = (text: string): string => text.replace(/\s+/g, " ");
    const applied = await bench.gf("apply", "--auto-approve");
    expect(applied.code, applied.err).toBe(0);
    expect(plain(applied.err)).toContain(`warning: output url: ${said}`);
    const planned = await bench.gf("plan", "--detailed-exitcode");
    expect(planned.code).toBe(0);
    expect(plain(planned.out)).toContain(said);
    expect(plain(planned.out)).toMatch(/! url +\(not known\)/);
    expect(planned.out + applied.err).not.toMatch(/obs-pw|metrics\.example/);
    const files = ["-f", `${bench.folder}/graphform.yaml`, "--state", `${bench.folder}/state.json`];
    const asked: unknown = await run(["output", "url", ...files], bench.env).catch((error: unknown) => error);
    expect(JSON.stringify(asked)).toContain("graphform plan says what is missing");
    expect(await run(["output", ...files], bench.env)).toMatchObject({
      code: 0,
      err: "declared and not known yet: url; graphform plan says what is missing\n",
    });
    bench.cloud.meddle = () => void show(topologyOf("instance-1"));
    expect((await bench.gf("apply", "--auto-approve")).out).toContain(
      "falkor://node.instance-1.example.com:6379",
    );
  },
);
