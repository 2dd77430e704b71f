import { createHash } from "node:crypto";
import { isObject, type JsonObject } from "../../src/model/json.ts";
import { type FaultyServer, type Reply, type SeenCall, startFaultyServer } from "./faulty-server.ts";

export type ServerDialect = "plain" | "gitlab" | "gitea";

/**
 * A server of Terraform's protocol for one state, in one dialect, as strict as the real ones. GitLab: all seven keys, no
 * serial twice, no write under another lock, a forced unlock for a DELETE without ID.
 */
export interface TerraformServer extends FaultyServer {
  readonly address: string;
  readonly lockAddress: string;
  readonly username: string;
  readonly password: string;
  readonly token: string;
  /** Tokens that may read and no more. */
  readonly readers: Set<string>;
  /** The stored document; settable, as somebody else's write. */
  document: string | undefined;
  /** The lock as its holder sent it. */
  lock: JsonObject | undefined;
  /** Largest document, in bytes. */
  limit: number;
  /** What the credentials are allowed: `none` sees no project. */
  rights: "write" | "read" | "none";
  /** Serials that were ever stored. */
  readonly serials: Set<number>;
  /** Habits of other servers. */
  manners: {
    /** Shows its lock to a GET. */
    shows?: boolean;
    /** Opens its lock for any ID. */
    ignoresId?: boolean;
    /** Gives its lock to everybody. */
    locksForAll?: boolean;
    /** Names no holder. */
    hidesHolder?: boolean;
    /** Stores a document whoever has the lock. */
    ignoresLock?: boolean;
  };
  /** Forced unlocks that arrived. */
  forced: number;
}

const paths: { readonly [dialect in ServerDialect]: readonly [state: string, lock: string] } = {
  plain: ["/states/orders", "/states/orders/the-lock"],
  gitlab: ["/api/v4/projects/42/terraform/state/orders", "/api/v4/projects/42/terraform/state/orders/lock"],
  gitea: ["/api/packages/team/terraform/state/orders", "/api/packages/team/terraform/state/orders/lock"],
};

const keys = ["ID", "Operation", "Info", "Who", "Version", "Created", "Path"];

export async function startTerraformServer(dialect: ServerDialect): Promise<TerraformServer> {
  const [statePath, lockPath] = paths[dialect];
  const work = (call: SeenCall): Reply => {
    const refusal = refused(server, dialect, call);
    if (refusal !== undefined) return refusal;
    if (call.url.pathname === lockPath) return onLock(server, dialect, call);
    if (call.url.pathname === statePath) return onState(server, dialect, call);
    return { status: 404 };
  };
  const faulty = await startFaultyServer(work);
  const server: TerraformServer = Object.assign(faulty, {
    address: `${faulty.origin}${statePath}`,
    lockAddress: `${faulty.origin}${lockPath}`,
    readers: new Set<string>(),
    username: "deployer",
    password: "s3cret-Passw0rd/ü",
    token: "glpat-k33pThisToYourself",
    document: undefined,
    lock: undefined,
    limit: 16 * 1024 * 1024,
    rights: "write" as const,
    serials: new Set<number>(),
    manners: {},
    forced: 0,
  });
  return server;
}

function refused(
  server: TerraformServer,
  dialect: ServerDialect,
  { method, headers, body }: SeenCall,
): Reply | undefined {
  const basic = `Basic ${Buffer.from(`${server.username}:${server.password}`).toString("base64")}`;
  const given = headers.authorization ?? "";
  const isReader = given.startsWith("Bearer ") && server.readers.has(given.slice(7));
  if (!isReader && ![basic, `Bearer ${server.token}`].includes(given))
    return message(401, `401 Unauthorized: ${given}`);
  if (server.rights === "none") return message(dialect === "plain" ? 403 : 404, "404 Project Not Found");
  if ((isReader || server.rights === "read") && method !== "GET") return message(403, "403 Forbidden");
  const digest = headers["content-md5"];
  if (body.length > 0 && digest !== undefined && digest !== md5(body)) return message(400, "400 Bad digest");
  return undefined;
}

function onState(server: TerraformServer, dialect: ServerDialect, { method, url, body }: SeenCall): Reply {
  if (method === "GET") {
    if (server.document === undefined)
      return { status: dialect === "gitea" || server.lock !== undefined ? 204 : 404 };
    return {
      status: 200,
      headers: { "content-md5": md5(Buffer.from(server.document)) },
      body: server.document,
    };
  }
  if (method !== "POST") return { status: 405 };
  const id = url.searchParams.get("ID");
  if (dialect === "gitea" && id === null) return message(400, "Missing ID query parameter");
  const isOthers = server.lock === undefined ? dialect === "gitlab" && id !== null : server.lock["ID"] !== id;
  if (isOthers && server.manners.ignoresLock !== true)
    return { status: dialect === "plain" ? 423 : 409, body: server.lock ? JSON.stringify(server.lock) : "" };
  if (body.length === 0) return { status: 204 };
  if (body.length > server.limit) return message(413, "413 Request Entity Too Large");
  const text = body.toString("utf8");
  const serial = parse(text)["serial"];
  if (dialect === "gitlab" && (typeof serial !== "number" || server.serials.has(serial)))
    return message(422, "422 Unprocessable Entity");
  if (typeof serial === "number") server.serials.add(serial);
  server.document = text;
  return { status: dialect === "gitlab" ? 200 : 201 };
}

function onLock(server: TerraformServer, dialect: ServerDialect, { method, url, body }: SeenCall): Reply {
  const info = parse(body.toString("utf8"));
  const [lockMethod, unlockMethod] = dialect === "plain" ? ["LOCK", "UNLOCK"] : ["POST", "DELETE"];
  if (method === "GET" && server.manners.shows === true)
    return server.lock === undefined ? { status: 404 } : { status: 200, body: JSON.stringify(server.lock) };
  if (method === lockMethod) return take(server, dialect, info);
  if (method !== unlockMethod) return { status: 405 };
  const id = dialect === "gitlab" ? (url.searchParams.get("ID") ?? info["ID"]) : info["ID"];
  if (dialect === "gitlab" && id === undefined) server.forced += 1;
  else if (server.manners.ignoresId !== true && server.lock?.["ID"] !== id)
    return { status: 409, body: dialect === "gitea" ? giteaConflict : "" };
  server.lock = undefined;
  return { status: 200 };
}

function take(server: TerraformServer, dialect: ServerDialect, info: JsonObject): Reply {
  const id = info["ID"];
  if (dialect === "gitlab" && !keys.every((key) => typeof info[key] === "string"))
    return message(400, `${keys.find((key) => info[key] === undefined)} is missing`);
  if (typeof id !== "string" || id === "" || id.length > 255) return message(400, "ID is invalid");
  const held = server.lock;
  if (held === undefined || server.manners.locksForAll === true) {
    server.lock = dialect === "gitlab" ? { ...info, Who: server.username, Created: gitlabTime } : info;
    return { status: 200, body: dialect === "gitlab" ? JSON.stringify(server.lock) : "" };
  }
  if (server.manners.hidesHolder === true) return { status: 409, body: giteaConflict };
  if (dialect !== "gitlab")
    return { status: 423, body: JSON.stringify({ ...held, Extra: "a key of the server" }) };
  const { ID = null, Who = null, Created = null } = held;
  return { status: 409, body: JSON.stringify({ ...info, ID, Who, Created }) };
}

/** GitLab's own spelling of a time. */
const gitlabTime = "2026-11-22 10:00:00 UTC";
const giteaConflict = JSON.stringify({
  errors: [{ status: 409, message: "State orders is already locked" }],
});

function message(status: number, text: string): Reply {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify({ message: text }) };
}

function md5(bytes: Buffer): string {
  return createHash("md5").update(bytes).digest("base64");
}

function parse(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
