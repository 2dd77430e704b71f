import { join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { decode, ExtData, encode } from "@msgpack/msgpack";
import { loadSync, type Type } from "protobufjs";
import { Agent, request } from "undici";
import { attributeOf, settings, source } from "./fields.ts";
import { type Answer, serveGrpc } from "./grpc-server.ts";

/**
 * A thin Terraform provider with one resource, `graph_instance`: it does with the service what must be done, over connections
 * that are kept, and nothing else. Prints one JSON line, the value of TF_REATTACH_PROVIDERS, and ends when its standard input does.
 */
const root = "/2022-09-01-00/resource-instance";
/** Between two looks at an instance that is deployed, in ms: where the helper of Terraform's SDK begins, which then doubles it. */
const pollEvery = 100;
/** Connections are let go before the service, which waits 5 s, closes them. */
const connections = { connections: 64, keepAliveTimeout: 2000, keepAliveMaxTimeout: 2000 };
const placed = ["tier", "component", "cloud_provider", "region"];
const unknown = new ExtData(0, new Uint8Array([0]));
let agent = new Agent(connections);
let url = "";
let cookie = "";

type Values = { readonly [attribute: string]: string | number | null };

interface Dynamic {
  readonly msgpack: Uint8Array;
}

type Asked = ReturnType<Type["decode"]>;

const calls: { readonly [name: string]: (asked: Asked) => Promise<object> | object } = {
  GetProviderSchema: () => ({
    provider: schema([attribute("url", "string", { required: true })]),
    resourceSchemas: {
      graph_instance: schema([
        attribute("id", "string", { computed: true }),
        ...placed.map((name) => attribute(name, "string", { required: true })),
        ...Object.entries(settings).map(([name, type]) =>
          attribute(attributeOf(name), type, { optional: true, sensitive: name === "graphdbPassword" }),
        ),
      ]),
    },
    serverCapabilities: { getProviderSchemaOptional: true },
  }),
  ValidateProviderConfig: () => ({}),
  async ConfigureProvider({ config }) {
    url = String(valuesIn(config)?.["url"]);
    await agent.close();
    agent = new Agent(connections);
    const { headers } = await request(`${url}${root}/user/signin`, { method: "POST", dispatcher: agent });
    cookie = [headers["set-cookie"] ?? []].flat().join("; ");
    return {};
  },
  ValidateResourceConfig: () => ({}),
  UpgradeResourceState: ({ rawState }) => ({ upgradedState: { json: rawState.json } }),
  async ReadResource({ currentState }) {
    const state = valuesIn(currentState) ?? {};
    const shown = await ask("GET", pathOf(state));
    if (shown === undefined) return { newState: dynamic(null) };
    const { cloud_provider, region } = shown;
    const isSame = cloud_provider === state["cloud_provider"] && region === state["region"];
    return { newState: isSame ? currentState : dynamic({ ...state, cloud_provider, region }) };
  },
  PlanResourceChange({ priorState, proposedNewState }) {
    if (valuesIn(priorState) !== null) return { plannedState: proposedNewState };
    return { plannedState: dynamic({ ...valuesIn(proposedNewState), id: unknown }) };
  },
  async ApplyResourceChange({ priorState, plannedState }) {
    const [prior, planned] = [valuesIn(priorState), valuesIn(plannedState)];
    if (planned === null) await ask("DELETE", pathOf(prior ?? {}));
    else if (prior === null) return { newState: dynamic(await created(planned)) };
    else await ask("PUT", pathOf(planned), bodyOf(planned));
    return { newState: plannedState };
  },
  StopProvider: () => ({}),
};

/** Creates an instance and waits until it runs. */
async function created(planned: Values): Promise<Values> {
  const answer = await ask("POST", collectionOf(planned), bodyOf(planned));
  const values = { ...planned, id: String(answer?.["id"]) };
  while ((await ask("GET", pathOf(values)))?.["status"] !== "RUNNING") await pause(pollEvery);
  return values;
}

/** Sends a request and gives what was answered, or nothing if there is no such instance. */
async function ask(
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  body: string | null = null,
): Promise<{ readonly [member: string]: string } | undefined> {
  const headers = body === null ? { cookie } : { cookie, "content-type": "application/json" };
  const answer = await request(url + path, { method, headers, body, dispatcher: agent });
  const said = await answer.body.text();
  if (answer.statusCode === 404) return undefined;
  if (answer.statusCode >= 400) throw new Error(`${method} ${path}: ${answer.statusCode} ${said}`);
  return JSON.parse(said);
}

function bodyOf(values: Values): string {
  const { cloud_provider, region } = values;
  const set = Object.keys(settings).map((name) => [name, values[attributeOf(name)] ?? undefined]);
  return JSON.stringify({ cloud_provider, region, requestParams: Object.fromEntries(set) });
}

function collectionOf({ tier, component }: Values): string {
  return `${root}/sp-default/graphdb/v1/prod/hosted/${tier}/${component}`;
}

function pathOf(values: Values): string {
  return `${collectionOf(values)}/${values["id"]}`;
}

function schema(attributes: readonly object[]): object {
  return { version: 0, block: { attributes } };
}

function attribute(name: string, type: string, traits: object): object {
  return { name, type: Buffer.from(JSON.stringify(type)), ...traits };
}

function valuesIn({ msgpack }: Dynamic): Values | null {
  return decode(msgpack) as Values | null;
}

function dynamic(value: object | null): Dynamic {
  return { msgpack: encode(value) };
}

const protocol = loadSync(join(import.meta.dirname, "plugin.proto"));
const answers = Object.entries(calls).map(([name, call]): [string, Answer] => {
  const asked = protocol.lookupType(`tfplugin6.${name}.Request`);
  const answer = protocol.lookupType(`tfplugin6.${name}.Response`);
  const answered = async (message: Uint8Array): Promise<object> => {
    try {
      return await call(asked.decode(message));
    } catch (error) {
      return { diagnostics: [{ severity: 1, summary: String(error) }] };
    }
  };
  return [`/tfplugin6.Provider/${name}`, async (message) => answer.encode(await answered(message)).finish()];
});
const port = await serveGrpc(new Map(answers));
const reattach = {
  Protocol: "grpc",
  ProtocolVersion: 6,
  Pid: process.pid,
  Test: true,
  Addr: { Network: "tcp", String: `127.0.0.1:${port}` },
};
console.log(JSON.stringify({ [`registry.terraform.io/${source}`]: reattach }));
process.stdin.on("end", () => process.exit(0)).resume();
