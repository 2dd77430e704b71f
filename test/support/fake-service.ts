import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createNetServer, type Server } from "node:net";
import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";

/** One request as it came, and what it was answered. */
export interface SeenRequest {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Model, tier and resource key of the path. */
  readonly place: string;
  readonly id: string;
  readonly body: Json | undefined;
  readonly cookie: string;
  readonly authorization: string;
  /** 0 where nothing was answered. */
  status: number;
}

/** Misbehaviour towards one request: another answer, with the work done or not, a cut, or silence until the end. */
export type Mischief =
  | {
      readonly status: number;
      readonly body?: string;
      readonly headers?: { readonly [name: string]: string };
      readonly work?: boolean;
    }
  | "cut"
  | "cut-after"
  | "hang";

/** An instance as the service keeps it. Tests may change it: that is somebody else at work. */
export interface FakeInstance {
  readonly id: string;
  readonly place: string;
  readonly createdAt: string;
  status: string;
  modifiedAt: string;
  top: JsonObject;
  params: JsonObject;
  failure?: string | undefined;
  /** The port of its database. Default: that of a database which all others share. */
  readonly port?: number | undefined;
  /** What becomes of it at that time, ms since 1970. */
  next?: { readonly at: number; readonly status: string; readonly failure?: string } | undefined;
}

const version = "/2022-09-01-00";
const components = `${version}/resource-instance/sp-default/graphdb/v1/prod/`;

/** Specification 2.2: what an update must not hold. */
const createOnly: ReadonlySet<string> = new Set([
  "numReplicas",
  "memoryRequestsAndLimits",
  "graphdbUser",
  "enableTLS",
  "enableEnterpriseModule",
  "AOFPersistenceConfig",
  "RDBPersistenceConfig",
  "graphDBCacheSize",
  "graphDBMaxQueuedQueries",
  "graphDBNodeCreationBuffer",
  "graphDBQueryMemCapacity",
  "graphDBResultSetSize",
  "graphDBTimeoutDefault",
  "graphDBTimeoutMax",
]);

interface Transition {
  readonly from: readonly string[];
  readonly through: string;
  readonly to: string;
}

const transitions: { readonly [operation: string]: Transition } = {
  update: { from: ["RUNNING", "FAILED"], through: "DEPLOYING", to: "RUNNING" },
  start: { from: ["STOPPED"], through: "STARTING", to: "RUNNING" },
  stop: { from: ["RUNNING"], through: "STOPPING", to: "STOPPED" },
  restart: { from: ["RUNNING", "FAILED"], through: "RESTARTING", to: "RUNNING" },
  backup: { from: ["RUNNING"], through: "BACKING_UP", to: "RUNNING" },
};

/** A refusal in the shape of specification 7. */
class Refusal extends Error {
  readonly status: number;
  readonly body: JsonObject;

  constructor(status: number, name: string, message: string) {
    super(message);
    this.status = status;
    this.body = {
      name,
      id: randomBytes(4).toString("hex"),
      message,
      temporary: false,
      timeout: false,
      fault: status >= 500,
    };
  }
}

/**
 * A hosting service in memory, written from the specification and the default paths alone; behind every instance stands
 * a database that answers PONG to everybody. It keeps every request with its body, and misbehaves on request.
 */
export class FakeService {
  readonly username: string = "ops@example.com";
  readonly password: string = "sign-in-pass-4711";
  readonly instances: Map<string, FakeInstance> = new Map();
  /** Every request since the last `forget`, in their order. */
  readonly requests: SeenRequest[] = [];
  /** Every session and refresh token that was handed out. */
  readonly tokens: string[] = [];
  /** How long an operation takes, in ms. */
  duration = 0;
  /** How long the old status still shows after a 202, in ms. */
  stale = 0;
  /** Whether describe echoes the parameters, all as text and passwords in clear. */
  echo = false;
  /** Ids of the subscriptions that the account of the session sees; undefined where the service has no such list. */
  subscriptions: readonly string[] | undefined;
  /** The name that the database of an instance is shown with. */
  hostOf: (id: string) => string = () => "127.0.0.1";
  /** How far the clock of the service's answers is ahead, in ms. */
  ahead = 0;
  /** How the service's clock writes a time. */
  clock: (time: string) => string = (time) => time;
  /** Asked before each request is worked on. */
  misbehave: (request: SeenRequest) => Mischief | undefined = () => undefined;
  /** Asked as an operation is accepted: whether it ends otherwise than well. */
  fate: (operation: string, instance: FakeInstance) => "stuck" | { readonly failed: string } | undefined =
    () => undefined;
  readonly #sessions = new Set<string>();
  readonly #refreshTokens = new Set<string>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #databases = [pongServer()];
  /** The port of the database for the next create: no two instances show one address. */
  #nextPort: number | undefined;
  #port = 0;
  #databasePort = 0;

  static async start(): Promise<FakeService> {
    const service = new FakeService();
    await service.#listen();
    return service;
  }

  async #listen(): Promise<void> {
    this.#port = await portOf(this.#server);
    for (const database of this.#databases) this.#databasePort = await portOf(database);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** What a command needs to sign in here. */
  get env(): { readonly [name: string]: string } {
    return { GRAPHFORM_USERNAME: this.username, GRAPHFORM_PASSWORD: this.password };
  }

  /** Requests that are neither reads nor sign-in. */
  writes(): readonly SeenRequest[] {
    return this.requests.filter(
      ({ method, operation }) => method !== "GET" && !["signin", "refresh"].includes(operation),
    );
  }

  forget(): void {
    this.requests.length = 0;
  }

  /** Back to good manners; instances stay. */
  behave(): void {
    this.misbehave = () => undefined;
    this.fate = () => undefined;
    this.clock = (time) => time;
    [this.duration, this.stale, this.ahead, this.echo] = [0, 0, 0, false];
    this.forget();
  }

  /** Ends every session: their tokens are refused from now on, refresh tokens too. */
  expire(): void {
    this.#sessions.clear();
    this.#refreshTokens.clear();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    for (const database of this.#databases) database.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen = await read(request);
    this.requests.push(seen);
    const mischief = this.misbehave(seen);
    if (mischief === "hang") return;
    if (seen.operation === "create") this.#nextPort ??= await this.#openDatabase();
    const worksAnyway = mischief === "cut-after" || (typeof mischief === "object" && mischief.work === true);
    const done = mischief === undefined || worksAnyway ? this.#work(seen) : undefined;
    if (mischief === "cut" || mischief === "cut-after") {
      request.socket.destroy();
      return;
    }
    const { status, headers, body } = mischief === undefined ? (done ?? nothing) : misbehaved(mischief);
    seen.status = status;
    const date = new Date(Date.now() + this.ahead).toUTCString();
    response.writeHead(status, { date, ...headers }).end(body);
  }

  async #openDatabase(): Promise<number> {
    const database = pongServer();
    this.#databases.push(database);
    return portOf(database);
  }

  #work(seen: SeenRequest): Answer {
    try {
      return this.#route(seen);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return {
        status: error.status,
        headers: { "content-type": "application/vnd.goa.error" },
        body: JSON.stringify(error.body),
      };
    }
  }

  #route(seen: SeenRequest): Answer {
    if (seen.operation === "signin") return this.#signIn(seen);
    if (seen.operation === "refresh") return this.#refresh(seen);
    const token = /(?:^|;\s*)svc_token=([^;]+)/.exec(seen.cookie)?.[1];
    if (token === undefined || !this.#sessions.has(token))
      throw new Refusal(401, "auth_failure", "the session token is invalid");
    if (seen.operation === "create") return this.#create(seen);
    if (seen.operation === "list")
      return json(200, {
        ids: [...this.instances.values()].filter(({ place }) => place === seen.place).map(({ id }) => id),
      });
    if (seen.path === `${version}/subscription` && this.subscriptions !== undefined)
      return json(200, { subscriptions: this.subscriptions.map((id) => ({ id, status: "ACTIVE" })) });
    const instance = this.#find(seen);
    if (seen.operation === "describe") return json(200, this.#describe(instance));
    return this.#operate(seen, instance);
  }

  #signIn(seen: SeenRequest): Answer {
    const basic = Buffer.from(`${this.username}:${this.password}`).toString("base64");
    if (seen.authorization !== `Basic ${basic}`)
      throw new Refusal(401, "auth_failure", "credentials invalid");
    return this.#openSession({});
  }

  #refresh({ body }: SeenRequest): Answer {
    const token = isObject(body) ? String(body["refreshToken"]) : "";
    if (!this.#refreshTokens.delete(token))
      throw new Refusal(401, "auth_failure", "the refresh token is invalid");
    return this.#openSession({});
  }

  /** Cookies as specification 5.1 has them, and no body. */
  #openSession(body: JsonObject): Answer {
    const [session, refresh] = [
      `sess-${randomBytes(24).toString("hex")}`,
      `refr-${randomBytes(24).toString("hex")}`,
    ];
    this.tokens.push(session, refresh);
    this.#sessions.add(session);
    this.#refreshTokens.add(refresh);
    const attributes = "Path=/; HttpOnly; SameSite=Lax; Secure; Domain=127.0.0.1";
    const cookies = [
      `svc_token=${session}; Max-Age=3600; ${attributes}`,
      `svc_refresh_token=${refresh}; Max-Age=86400; ${attributes}`,
    ];
    return {
      status: 200,
      headers: { "set-cookie": cookies },
      body: Object.keys(body).length === 0 ? "" : JSON.stringify(body),
    };
  }

  #create(seen: SeenRequest): Answer {
    const { requestParams: params = {}, ...top } = isObject(seen.body) ? seen.body : {};
    if (!isObject(params) || top["cloud_provider"] === undefined || top["region"] === undefined) {
      throw new Refusal(400, "bad_request", "cloud_provider, region and requestParams are required");
    }
    const now = new Date().toISOString();
    const instance: FakeInstance = {
      id: `instance-${randomBytes(5).toString("hex")}`,
      place: seen.place,
      createdAt: now,
      modifiedAt: now,
      status: "PENDING",
      top,
      params,
      port: this.#nextPort,
    };
    this.#nextPort = undefined;
    this.instances.set(instance.id, instance);
    this.#begin("create", instance, "DEPLOYING", "RUNNING");
    return json(202, { id: instance.id });
  }

  #find({ id, place }: SeenRequest): FakeInstance {
    const instance = this.instances.get(id);
    if (instance === undefined || instance.place !== place)
      throw new Refusal(404, "not_found", `instance ${id} not found`);
    this.#advance(instance);
    if (!this.instances.has(id)) throw new Refusal(404, "not_found", `instance ${id} not found`);
    return instance;
  }

  #operate({ operation, body }: SeenRequest, instance: FakeInstance): Answer {
    if (instance.next !== undefined)
      throw new Refusal(409, "invalid_state", "operation is already in progress");
    if (operation === "delete") this.#begin("delete", instance, "DELETING", "GONE");
    else {
      const transition = transitions[operation];
      if (transition === undefined) throw new Refusal(404, "not_found", "no such operation");
      if (!transition.from.includes(instance.status))
        throw new Refusal(409, "invalid_state", `the instance is ${instance.status}`);
      if (operation === "update") update(instance, body);
      this.#begin(operation, instance, transition.through, transition.to);
    }
    return { status: 202, headers: {}, body: "" };
  }

  #begin(operation: string, instance: FakeInstance, through: string, to: string): void {
    const fate = this.fate(operation, instance);
    const at = Date.now() + this.stale + this.duration;
    if (this.stale === 0) instance.status = through;
    instance.failure = undefined;
    if (fate === "stuck") instance.next = { at: Number.POSITIVE_INFINITY, status: to };
    else if (fate === undefined) instance.next = { at, status: to };
    else instance.next = { at, status: "FAILED", failure: fate.failed };
    if (this.stale === 0) this.#touch(instance);
  }

  #advance(instance: FakeInstance): void {
    const { next } = instance;
    if (next === undefined || Date.now() < next.at) return;
    instance.next = undefined;
    if (next.status === "GONE") this.instances.delete(instance.id);
    instance.status = next.status;
    if (next.failure !== undefined) instance.failure = next.failure;
    this.#touch(instance);
  }

  #touch(instance: FakeInstance): void {
    instance.modifiedAt = new Date(Math.max(Date.now(), Date.parse(instance.modifiedAt) + 1)).toISOString();
  }

  /** Specification 2.1. */
  #describe(instance: FakeInstance): JsonObject {
    const { id, status, top, params, createdAt, modifiedAt, failure } = instance;
    const texts = Object.entries(params).map(([name, value]): [string, Json] => [
      name,
      value === null ? null : String(value),
    ]);
    const isUp = status === "RUNNING";
    return {
      id,
      status,
      cloud_provider: top["cloud_provider"] ?? "",
      region: top["region"] ?? "",
      network_type: top["network_type"] ?? "PUBLIC",
      created_at: this.clock(createdAt),
      last_modified: this.clock(modifiedAt),
      result_params: {
        ...(this.echo ? Object.fromEntries(texts) : {}),
        ...(isUp
          ? { graphdbHostname: this.hostOf(instance.id), graphdbPort: instance.port ?? this.#databasePort }
          : {}),
      },
      ...(failure === undefined
        ? {}
        : {
            detailedNetworkTopology: {
              "r-1": { recentDeploymentFailure: { failedAt: modifiedAt, failureReason: failure } },
            },
          }),
    };
  }
}

interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] };
  readonly body: string;
}

const nothing: Answer = { status: 500, headers: {}, body: "" };

function json(status: number, body: Json): Answer {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

function misbehaved(mischief: Exclude<Mischief, string>): Answer {
  const { status, headers = {}, body } = mischief;
  const refusal = {
    name: "trouble",
    id: "x",
    message: `trouble on request (${status})`,
    temporary: false,
    timeout: false,
    fault: true,
  };
  return {
    status,
    headers: { "content-type": "application/vnd.goa.error", ...headers },
    body: body ?? JSON.stringify(refusal),
  };
}

function update(instance: FakeInstance, body: Json | undefined): void {
  const { requestParams: params = {}, ...top } = isObject(body) ? body : {};
  const names = isObject(params) ? Object.keys(params) : [];
  const refused = names.filter((name) => createOnly.has(name));
  if (refused.length > 0) throw new Refusal(400, "bad_request", `${refused.join(", ")} cannot be changed`);
  if (isObject(params)) instance.params = { ...instance.params, ...params };
  instance.top = { ...instance.top, ...top };
}

async function read(request: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString("utf8");
  const [path = "", query = ""] = (request.url ?? "").split("?");
  const method = request.method ?? "";
  return {
    ...operationOf(method, path),
    method,
    path,
    query,
    body: text === "" ? undefined : JSON.parse(text),
    cookie: request.headers.cookie ?? "",
    authorization: request.headers.authorization ?? "",
    status: 0,
  };
}

function operationOf(method: string, path: string): Pick<SeenRequest, "operation" | "place" | "id"> {
  const nowhere = { place: "", id: "" };
  if (path === `${version}/resource-instance/user/signin`) return { operation: "signin", ...nowhere };
  if (path === `${version}/refresh-token`) return { operation: "refresh", ...nowhere };
  if (!path.startsWith(components)) return { operation: `${method} ${path}`, ...nowhere };
  const [model, tier, resource, id, verb] = path.slice(components.length).split("/").map(decodeURIComponent);
  const place = `${model}/${tier}/${resource}`;
  const known: { readonly [method: string]: string } =
    id === undefined
      ? { GET: "list", POST: "create" }
      : { GET: "describe", PUT: "update", PATCH: "update", DELETE: "delete" };
  return { operation: verb ?? known[method] ?? method, place, id: id ?? "" };
}

/** A database that lets everybody in. */
function pongServer(): Server {
  return createNetServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      const commands = chunk.toString("latin1").split(/(?=\*[0-9]+\r\n)/);
      for (const command of commands) socket.write(/PING/i.test(command) ? "+PONG\r\n" : "+OK\r\n");
    });
  });
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address: AddressInfo | string | null = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
