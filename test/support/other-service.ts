import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { createServer as createNetServer } from "node:net";
import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";
import { portOf, type Stop, stopper } from "./listening.ts";

/** One request as it came. */
export interface OtherRequest {
  readonly method: string;
  readonly url: string;
  readonly cookie: string;
  readonly authorization: string;
  readonly text: string;
}

/** One database, link or net. Tests may change it: that is somebody else at work. */
export interface OtherThing {
  readonly uid: string;
  readonly shelf: string;
  readonly born: string;
  touched: string;
  state: string;
  values: JsonObject;
  options: JsonObject;
  /** What the next look but one shows. */
  next: string | undefined;
  /** How often it answers that it has no time. */
  busy: number;
}

/** A hosting service of another vendor: every word of it is its own. */
export interface OtherService {
  readonly url: string;
  readonly requests: readonly OtherRequest[];
  /** What was asked for and is not there: a path of somebody else's service. */
  readonly strays: readonly string[];
  /** Writes, in short: `POST /v7/...`. */
  writes(): readonly string[];
  things(shelf: string): readonly OtherThing[];
  people(uid: string): readonly JsonObject[];
  /** Somebody gives a database another user, by other ways than ours. */
  invite(uid: string, who: string, may: string): void;
  /** Somebody else's database. */
  put(shelf: string): void;
  forget(): void;
  close(): Promise<void>;
}

interface Asked extends OtherRequest {
  readonly path: readonly string[];
  readonly body: JsonObject;
}

const login = { login: "somebody", phrase: "open sesame" };

/** How to sign in there. */
export const otherCredentials: { readonly [name: string]: string } = {
  GRAPHFORM_USERNAME: login.login,
  GRAPHFORM_PASSWORD: login.phrase,
};

/** Starts the other service on loopback; behind its databases stands one that answers PONG to everybody. */
export async function startOther(): Promise<OtherService> {
  const things = new Map<string, OtherThing>();
  const people = new Map<string, JsonObject[]>();
  const requests: OtherRequest[] = [];
  const strays: string[] = [];
  const sessions = new Set<string>();
  const database = createNetServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      const commands = chunk.toString("latin1").split(/(?=\*[0-9]+\r\n)/);
      for (const command of commands) socket.write(/PING/i.test(command) ? "+PONG\r\n" : "+OK\r\n");
    });
  });

  const add = (shelf: string, body: JsonObject, state: string): OtherThing => {
    const { options = {}, ...values } = body;
    const born = new Date().toISOString();
    const thing: OtherThing = {
      uid: `${shelf.split("/").at(-1)?.slice(0, 2)}-${randomBytes(4).toString("hex")}`,
      ...{ shelf, born, touched: born, state, values, next: undefined, busy: 0 },
      options: isObject(options) ? options : {},
    };
    things.set(thing.uid, thing);
    return thing;
  };
  const begin = (thing: OtherThing, next: string): Reply => {
    if (thing.busy > 0) {
      thing.busy -= 1;
      throw new Refusal(409, "Something is being done with it. Come back later, please.");
    }
    Object.assign(thing, {
      state: "BUILDING",
      next,
      touched: new Date(Date.parse(thing.touched) + 1000).toISOString(),
    });
    return { status: 200 };
  };
  const look = (thing: OtherThing): JsonObject => {
    const shown = {
      uid: thing.uid,
      state: thing.state,
      born: thing.born,
      touched: thing.touched,
      ...thing.values,
      options: thing.options,
    };
    if (thing.next === "RETIRED") things.delete(thing.uid);
    if (thing.next !== undefined) thing.state = thing.next;
    thing.next = undefined;
    return shown;
  };
  const on = (shelf: string): readonly OtherThing[] =>
    [...things.values()].filter((thing) => thing.shelf === shelf);
  const find = (shelf: string, uid = ""): OtherThing => {
    const thing = things.get(uid);
    if (thing?.shelf !== shelf) throw new Refusal(404, `there is no ${uid}`);
    return thing;
  };

  const databases = (shelf: string, asked: Asked, [uid, verb]: readonly string[]): Reply => {
    if (uid === undefined) {
      if (asked.method === "GET")
        return {
          status: 200,
          body: { databases: on(shelf).map((thing) => ({ uid: thing.uid, title: "?" })) },
        };
      const thing = add(shelf, asked.body, "BUILDING");
      thing.next = "LIVE";
      people.set(thing.uid, [{ who: thing.options["firstPerson"] ?? "", may: "~* +@all" }]);
      return { status: 201, body: { database: { uid: thing.uid } } };
    }
    const thing = find(shelf, uid);
    if (verb === undefined) {
      const connection = { address: "127.0.0.1", tcp: portOf(database) };
      return {
        status: 200,
        body: { database: { ...look(thing), ...(thing.state === "LIVE" ? { connection } : {}) } },
      };
    }
    if (verb === "change") {
      const reply = begin(thing, "LIVE");
      const { options } = asked.body;
      if (isObject(options)) thing.options = { ...thing.options, ...options };
      return reply;
    }
    const leads: { readonly [verb: string]: string } = {
      retire: "RETIRED",
      wake: "LIVE",
      sleep: "ASLEEP",
      bounce: "LIVE",
    };
    return begin(thing, leads[verb] ?? stray(asked));
  };
  const links = (asked: Asked, [uid, verb]: readonly string[]): Reply => {
    if (uid === undefined && asked.method === "GET")
      return { status: 200, body: { links: on("links").map((link) => ({ uid: link.uid })) } };
    if (uid === undefined)
      return { status: 201, body: { link: { uid: add("links", asked.body, "BUILDING").uid } } };
    const link = find("links", uid);
    if (verb === "retire") {
      things.delete(uid);
      return { status: 200 };
    }
    return { status: 200, body: { link: { ...look(link), handle: `handle-${uid}` } } };
  };
  const nets = (asked: Asked, [nid, verb]: readonly string[]): Reply => {
    if (nid === undefined && asked.method === "GET")
      return { status: 200, body: { nets: on("nets").map((net) => ({ nid: net.uid })) } };
    if (nid === undefined)
      return { status: 201, body: { net: { nid: add("nets", asked.body, "LIVE").uid } } };
    const net = find("nets", nid);
    if (verb === "rename") net.values = { ...net.values, ...asked.body };
    if (verb === "retire") things.delete(nid);
    return { status: 200, body: { net: { nid, ...net.values } } };
  };
  const persons = (asked: Asked, [uid = "", who, verb]: readonly string[]): Reply => {
    const known = people.get(uid);
    if (!sessions.has(asked.authorization.replace("Bearer ", ""))) throw new Refusal(401, "who are you");
    if (known === undefined) throw new Refusal(404, `there is no ${uid}`);
    const { phrase: _never, ...shown } = asked.body;
    if (who === undefined && asked.method === "GET") return { status: 200, body: { people: known } };
    if (who === undefined) known.push(shown);
    else if (verb === "retire")
      people.set(
        uid,
        known.filter((person) => person["who"] !== who),
      );
    else
      people.set(
        uid,
        known.map((person) => (person["who"] === who ? { ...person, ...shown } : person)),
      );
    return { status: 200 };
  };
  const stray = ({ method, url }: OtherRequest): never => {
    strays.push(`${method} ${url}`);
    throw new Refusal(404, "nothing is here");
  };
  const open = (body: JsonObject): Reply => {
    const renewal = String(body["renewal"] ?? "");
    const isLogin = body["login"] === login.login && body["phrase"] === login.phrase;
    if (!isLogin && !sessions.delete(renewal)) throw new Refusal(401, "that is not the phrase");
    const [access, renew] = [randomBytes(12).toString("hex"), randomBytes(12).toString("hex")];
    sessions.add(access).add(renew);
    const cookies = [
      `sid=${access}; Path=/; HttpOnly; Max-Age=600`,
      `sid_renew=${renew}; Path=/; HttpOnly; Max-Age=7200`,
    ];
    return { status: 200, headers: { "set-cookie": cookies } };
  };
  const route = (asked: Asked): Reply => {
    const [version, org = "", what = "", ...rest] = asked.path;
    if (version !== "v7") return stray(asked);
    if (org === "session") return open(asked.body);
    if (org !== "acme-4711") return stray(asked);
    if (what === "people") return persons(asked, rest);
    const session = /(?:^|;\s*)sid=([^;]+)/.exec(asked.cookie)?.[1] ?? "";
    if (!sessions.has(session)) throw new Refusal(400, "there is no session with this");
    if (what === "links") return links(asked, rest);
    if (what === "link-handles") {
      const link = find("links", rest[0]?.replace("handle-", ""));
      return {
        status: 200,
        body: {
          handle: { state: link.state === "LIVE" ? "LIVE" : "ASKING", todo: "press the green button" },
        },
      };
    }
    if (what === "nets") return nets(asked, rest);
    if (rest[0] !== "databases" || !/^(yours|big|mid|small|tiny)\.(one|two)$/.test(what)) return stray(asked);
    if (!asked.url.endsWith("?account=acc-1")) return stray(asked);
    return databases(what, asked, rest.slice(1));
  };

  const server = createServer(async (request, response) => {
    const asked = await read(request);
    requests.push(asked);
    const { status, headers = {}, body } = answered(asked, route);
    response
      .writeHead(status, { "content-type": "text/x-own", ...headers })
      .end(body === undefined ? "" : JSON.stringify(body));
  });
  const stop: Stop = await stopper(server, database);
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    requests,
    strays,
    writes: () =>
      requests
        .filter(({ method, url }) => method !== "GET" && !url.includes("/session/"))
        .map(({ method, url }) => `${method} ${url}`),
    things: on,
    people: (uid) => people.get(uid) ?? [],
    invite: (uid, who, may) => people.set(uid, [...(people.get(uid) ?? []), { who, may }]),
    put: (shelf) => void add(shelf, { cloud: "aws", zone: "north-7" }, "LIVE"),
    forget: () => requests.splice(0),
    close: stop,
  };
}

interface Reply {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string | string[] };
  readonly body?: Json;
}

class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Errors in a shape of its own. */
function answered(asked: Asked, route: (asked: Asked) => Reply): Reply {
  try {
    return route(asked);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { status: error.status, body: { oops: { code: "E-7", text: error.message } } };
  }
}

async function read(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString("utf8");
  const { method = "", url = "", headers } = request;
  const body: Json = text === "" ? {} : JSON.parse(text);
  return {
    ...{ method, url, text, cookie: headers.cookie ?? "", authorization: headers.authorization ?? "" },
    path: (url.split("?")[0] ?? "").split("/").slice(1).map(decodeURIComponent),
    body: isObject(body) ? body : {},
  };
}
