import { request as httpRequest } from "node:http";
import { DUMMY_ACCOUNT } from "@20minutes/s3rver/lib/models/account.js";
import S3rver from "@20minutes/s3rver/lib/s3rver.js";
import { type FaultyServer, type Reply, type SeenCall, startFaultyServer } from "./faulty-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/**
 * An S3 server with real signatures (s3rver). Bare, it ignores conditional writes in silence, as some services do. The
 * server before it compares and forwards one request at a time, as S3 itself does.
 */
export interface S3Server extends FaultyServer {
  /** The server that ignores conditions. */
  readonly bare: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** False for a service that deletes whatever the ETag is. */
  deletesByEtag: boolean;
  /** True for a bucket that keeps versions. */
  versioned: boolean;
  /** Keys whose session has ended. */
  readonly expired: Set<string>;
  /** Moves the server's clock. */
  advance(ms: number): void;
  /** Paths of the objects that are there. */
  objects(): readonly string[];
}

interface Version {
  readonly id: string;
  readonly at: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
}

/** Starts both servers on loopback, with one bucket. */
export async function startS3Server(): Promise<S3Server> {
  const directory = temporaryFolder("s3");
  const keys = { accessKeyId: "AKIAGRAPHFORMTEST", secretAccessKey: "k33p/This+secret0Signing=key" };
  DUMMY_ACCOUNT.createKeyPair(keys.accessKeyId, keys.secretAccessKey);
  const bucket = "team.states";
  const s3rver = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory,
    serviceEndpoint: "example.test",
    configureBuckets: [{ name: bucket }],
  });
  const { port } = await s3rver.run();
  /** Path -> versions, oldest first. */
  const stored = new Map<string, Version[]>();
  let [offset, count] = [0, 0];
  const now = (): number => Date.now() + offset;

  const work = async (call: SeenCall): Promise<Reply> => {
    const path = call.url.pathname;
    const current = stored.get(path)?.at(-1);
    const refusal =
      ended(call, server.expired) ??
      keptVersion(call, stored, server.versioned) ??
      condition(call, current?.headers["etag"], server.deletesByEtag);
    if (refusal !== undefined) return refusal;
    const reply = await forward(call, port);
    const etag = reply.headers?.["etag"];
    if (call.method === "PUT" && reply.status === 200 && etag !== undefined) {
      count += 1;
      const version = { id: `v${count}`, at: now(), headers: { etag, ...serialIn(call) }, body: call.body };
      stored.set(path, [...(server.versioned ? (stored.get(path) ?? []) : []), version]);
    }
    if (call.method === "DELETE" && reply.status === 204) stored.delete(path);
    const modified = call.method === "GET" && current !== undefined;
    return {
      ...reply,
      headers: {
        ...reply.headers,
        date: new Date(now()).toUTCString(),
        ...(modified ? { "last-modified": new Date(current.at).toUTCString() } : {}),
      },
    };
  };
  let last: Promise<unknown> = Promise.resolve();
  const faulty = await startFaultyServer((call) => {
    const next = last.then(() => work(call));
    last = next.catch(() => undefined);
    return next;
  });
  const closeFront = faulty.close;
  const server: S3Server = Object.assign(faulty, {
    bare: `http://127.0.0.1:${port}`,
    bucket,
    ...keys,
    deletesByEtag: true,
    versioned: false,
    expired: new Set<string>(),
    advance(ms: number) {
      offset += ms;
    },
    objects: () => [...stored.keys()].sort(),
    async close() {
      await Promise.all([closeFront(), s3rver.close()]);
    },
  });
  return server;
}

/** The refusal of keys whose session has ended. */
function ended({ headers }: SeenCall, expired: ReadonlySet<string>): Reply | undefined {
  const isOver = [...expired].some((key) => headers.authorization?.includes(`=${key}/`));
  return isOver ? xmlError(400, "ExpiredToken") : undefined;
}

function serialIn({ headers }: SeenCall): { readonly [name: string]: string } {
  const serial = headers["x-amz-meta-serial"];
  return typeof serial === "string" ? { "x-amz-meta-serial": serial } : {};
}

/** The answer to a request for versions, or for one of them; undefined for any other. */
function keptVersion(
  { url, method }: SeenCall,
  stored: ReadonlyMap<string, readonly Version[]>,
  versioned: boolean,
): Reply | undefined {
  if (url.searchParams.has("versions")) return listed(stored, url.searchParams, versioned);
  const id = url.searchParams.get("versionId");
  if (id === null) return undefined;
  const version = stored.get(url.pathname)?.find((one) => one.id === id);
  if (version === undefined) return xmlError(404, "NoSuchVersion");
  return { status: 200, headers: version.headers, body: method === "HEAD" ? "" : version.body };
}

/** The refusal of a request whose condition does not hold. */
function condition(
  { method, headers }: SeenCall,
  etag: string | undefined,
  deletes: boolean,
): Reply | undefined {
  const { "if-match": match, "if-none-match": noneMatch } = headers;
  if (method === "PUT" && noneMatch !== undefined) {
    if (noneMatch !== "*") return xmlError(501, "NotImplemented");
    return etag === undefined ? undefined : xmlError(412, "PreconditionFailed");
  }
  if (match === undefined || (method === "DELETE" ? !deletes : method !== "PUT")) return undefined;
  if (etag === undefined) return xmlError(404, "NoSuchKey");
  return match === etag ? undefined : xmlError(412, "PreconditionFailed");
}

/** An error as S3 writes it. */
export function xmlError(status: number, code: string, message = "see the code"): Reply {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  return { status, headers: { "content-type": "application/xml" }, body };
}

/** Versions of all keys with a prefix, newest first, two on a page. */
function listed(
  stored: ReadonlyMap<string, readonly Version[]>,
  query: URLSearchParams,
  versioned: boolean,
): Reply {
  const prefix = query.get("prefix") ?? "";
  const all = [...stored].flatMap(([path, versions]) => {
    const key = decodeURIComponent(path.split("/").slice(2).join("/"));
    return [...versions].reverse().map((version) => ({ key, ...version }));
  });
  const rows = all
    .filter(({ key }) => key.startsWith(prefix))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const marker = query.get("version-id-marker");
  const from = marker === null ? 0 : rows.findIndex(({ id }) => id === marker) + 1;
  const page = rows.slice(from, from + 2);
  const last = page.at(-1);
  const items = page.map(
    ({ key, id, at }) =>
      `<Version><Key>${key}</Key><VersionId>${versioned ? id : "null"}</VersionId><LastModified>${new Date(at).toISOString()}</LastModified></Version>`,
  );
  const isOver = from + 2 >= rows.length || last === undefined;
  const next = isOver
    ? ""
    : `<NextKeyMarker>${last.key}</NextKeyMarker><NextVersionIdMarker>${last.id}</NextVersionIdMarker>`;
  const body = `<?xml version="1.0"?><ListVersionsResult><IsTruncated>${!isOver}</IsTruncated>${next}${items.join("")}</ListVersionsResult>`;
  return { status: 200, headers: { "content-type": "application/xml" }, body };
}

/** Hands a request on as it is: its signature covers the host that it was sent to. */
function forward({ method, target, headers, body }: SeenCall, port: number): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, method, path: target, headers, agent: false };
    const request = httpRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const { connection: _, "transfer-encoding": __, ...rest } = response.headers;
        const flat = Object.entries(rest).map(([name, value]): [string, string] => [name, String(value)]);
        resolve({
          status: response.statusCode ?? 500,
          headers: Object.fromEntries(flat),
          body: Buffer.concat(chunks),
        });
      });
    });
    request.on("error", reject);
    request.end(body);
  });
}
