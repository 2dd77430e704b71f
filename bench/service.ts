import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import process from "node:process";
import { parseArgs } from "node:util";
import { startDatabase } from "./database.ts";

interface Instance {
  readonly place: string;
  readonly region: string;
  readonly provider: string;
  readonly createdAt: number;
  /** Seen in transition once, so that nobody has to wait for the settling time. */
  isNew: boolean;
}

/**
 * The hosting service without any latency, or with the ms that `--latency` and `--deploy` name: sign-in, create, list, describe, update and delete of instances as the default
 * profile has them, answered at once from memory. A program of its own, so that its work is not the client's.
 * Prints one JSON line with its URL and ends when its standard input does.
 */
const place =
  /^\/2022-09-01-00\/resource-instance\/sp-default\/graphdb\/v1\/prod\/(\w+\/[\w-]+\/[\w-]+)(?:\/(instance-\d+))?$/;
const cookies = ["svc_token=bench; Max-Age=3600", "svc_refresh_token=bench; Max-Age=86400"];
const time = "2026-01-01T00:00:00Z";
const instances = new Map<string, Instance>();
let count = 0;

const { values } = parseArgs({
  options: {
    latency: { type: "string", default: "0" },
    deploy: { type: "string", default: "0" },
    /** Shows an address of every instance, and answers there as its database. */
    databases: { type: "boolean", default: false },
  },
});
let latency = Number(values.latency);
const deploy = Number(values.deploy);

const server = createServer((request, response) => {
  const path = (request.url ?? "").split("?")[0] ?? "";
  const [, where, id] = place.exec(path) ?? [];
  if (path === "/bench") become(request.url ?? "", response);
  else if (path.endsWith("/user/signin")) answer(response, 200, {}, { "Set-Cookie": cookies });
  else if (where === undefined) answer(response, 404, { name: "not_found", message: path });
  else if (id === undefined) collection(request, response, where);
  else member(request, response, id);
});
const database = values.databases ? await startDatabase(Number(values.latency)) : undefined;
const address: object = database === undefined ? {} : { graphdbHostname: "127.0.0.1", graphdbPort: database };
server.listen(0, "127.0.0.1", () => {
  const at = server.address();
  console.log(JSON.stringify({ url: `http://127.0.0.1:${typeof at === "object" ? at?.port : ""}` }));
});
process.stdin.on("end", () => process.exit(0)).resume();

/** Takes another latency, or as many instances over the places of those that are there. */
function become(url: string, response: ServerResponse): void {
  const asked = new URL(url, "http://bench").searchParams;
  latency = Number(asked.get("latency") ?? latency);
  const models = [...instances.values()];
  for (const most = Number(asked.get("instances") ?? 0); count < most; ) {
    const model = models[count % models.length];
    count += 1;
    if (model !== undefined) instances.set(`instance-${count}`, { ...model });
  }
  response.end();
}

function collection(request: IncomingMessage, response: ServerResponse, where: string): void {
  if (request.method === "GET") {
    const ids = [...instances].filter(([, each]) => each.place === where).map(([id]) => id);
    answer(response, 200, { ids });
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body: { cloud_provider: string; region: string } = JSON.parse(Buffer.concat(chunks).toString());
    count += 1;
    const id = `instance-${count}`;
    instances.set(id, {
      place: where,
      provider: body.cloud_provider,
      region: body.region,
      createdAt: Date.now(),
      isNew: true,
    });
    answer(response, 202, { id });
  });
}

function member(request: IncomingMessage, response: ServerResponse, id: string): void {
  request.resume();
  const found = instances.get(id);
  if (found === undefined) {
    answer(response, 404, { name: "not_found", message: id });
  } else if (request.method === "GET") {
    const { provider, region, createdAt } = found;
    const isNew = found.isNew || Date.now() < createdAt + deploy;
    found.isNew = false;
    const times = { created_at: time, last_modified: time };
    const where = { cloud_provider: provider, region, network_type: "PUBLIC" };
    answer(response, 200, {
      id,
      status: isNew ? "DEPLOYING" : "RUNNING",
      ...where,
      ...times,
      result_params: isNew ? {} : address,
    });
  } else {
    if (request.method === "DELETE") instances.delete(id);
    answer(response, 202, {});
  }
}

function answer(response: ServerResponse, status: number, body: object, headers: object = {}): void {
  const type = status < 400 ? "application/json" : "application/vnd.goa.error";
  const send = (): void => {
    response.writeHead(status, { "Content-Type": type, ...headers }).end(JSON.stringify(body));
  };
  if (latency === 0) send();
  else setTimeout(send, latency);
}
