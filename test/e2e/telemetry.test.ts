import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { quickProfileFile } from "../support/quick-profile.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly Attribute[];
}

/** A collector that takes what it is sent over OTLP as JSON, and keeps it. */
interface Collector {
  readonly url: string;
  readonly received: { readonly path: string; readonly type: string; readonly text: string }[];
  close(): void;
}

const password = "a-password-of-the-shop";
const parent = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };

let user: Workspace;
let collector: Collector;
let platform: LocalPlatform;

beforeAll(async () => {
  collector = await openCollector();
  user = openWorkspace(
    `apiVersion: graphform/v1
name: traced
service: { profile: ${quickProfileFile} }
secrets: { shop: { command: { run: [sh, -c, 'echo "$TRACEPARENT" > handed-on; printf %s "$SHOP_PASSWORD"'], env: [SHOP_PASSWORD] } } }
instances:
  orders:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: orders, graphdbUser: app, graphdbPassword: "\${secret.shop}" }
`,
    { packaged: true },
  );
  user.env["SHOP_PASSWORD"] = password;
  platform = await platformUp(user);
});
afterAll(async () => {
  collector.close();
  await user.close();
});

describe("traces and metrics", () => {
  it("are neither loaded nor sent without the variables", async () => {
    expect(await user.run("plan")).toMatchObject({ code: 0 });
    expect(collector.received).toEqual([]);
    const loaded = loadedWith(join(inject("packaged"), "dist", "cli.js"));
    expect(loaded.size).toBeGreaterThan(1);
    expect(
      [...loaded].filter((path) => readFileSync(path, "utf8").includes("OTEL_EXPORTER_OTLP_HEADERS")),
    ).toEqual([]);
  });

  it("tell a run, its steps and its requests, below the span that called it", async () => {
    Object.assign(user.env, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      TRACEPARENT: `00-${parent.traceId}-${parent.spanId}-01`,
    });
    await platform.forget();
    expect(await user.run("apply", "--auto-approve")).toMatchObject({
      code: 0,
      err: expect.not.stringContaining("warning"),
    });
    const spans = collector.received
      .filter(({ path }) => path === "/v1/traces")
      .flatMap(({ text }) => spansOf(text));
    const run = spans.find(({ name }) => name === "SYNC traced");
    expect(run).toMatchObject({ traceId: parent.traceId, parentSpanId: parent.spanId });
    expect(attributeOf(run, "cicd.pipeline.result")).toBe("success");
    const step = spans.find(({ name }) => name === "create instances.orders");
    expect(step).toMatchObject({ traceId: parent.traceId, parentSpanId: run?.spanId });
    expect(attributeOf(step, "graphform.result")).toBe("done");
    const posts = spans.filter((span) => attributeOf(span, "http.request.method") === "POST");
    expect(posts.length).toBeGreaterThan(0);
    expect(spans.every(({ traceId }) => traceId === parent.traceId)).toBe(true);
    expect(user.read("handed-on").trim()).toBe(`00-${parent.traceId}-${run?.spanId}-01`);
  });

  it("measure it, and hold no secret", () => {
    const metrics = collector.received
      .filter(({ path }) => path === "/v1/metrics")
      .map(({ text }) => text)
      .join();
    for (const name of ["cicd.pipeline.run.duration", "graphform.api.requests", "graphform.apply.steps"])
      expect(metrics).toContain(name);
    expect(JSON.stringify(collector.received)).not.toContain(password);
  });

  it("speak protobuf where that is asked for, and no protocol that is not spoken", async () => {
    collector.received.length = 0;
    user.env["OTEL_EXPORTER_OTLP_PROTOCOL"] = "http/protobuf";
    expect(await user.run("plan")).toMatchObject({ code: 0, err: expect.not.stringContaining("warning") });
    expect(collector.received.map(({ path, type }) => `${path} ${type}`).sort()).toEqual([
      "/v1/metrics application/x-protobuf",
      "/v1/traces application/x-protobuf",
    ]);
    expect(collector.received.map(({ text }) => text).join()).toContain("SYNC traced");
    expect(JSON.stringify(collector.received)).not.toContain(password);
    collector.received.length = 0;
    user.env["OTEL_EXPORTER_OTLP_PROTOCOL"] = "grpc";
    expect(await user.run("plan")).toMatchObject({
      code: 0,
      err: expect.stringContaining("grpc is not spoken"),
    });
    expect(collector.received).toEqual([]);
    user.env["OTEL_EXPORTER_OTLP_PROTOCOL"] = "";
  });

  it("cost a run neither its result nor long when nobody takes them", async () => {
    collector.close();
    expect(await user.run("plan")).toMatchObject({ code: 0, err: expect.stringContaining("were not sent") });
  });
});

/** The files that a bundle loads when it starts. */
function loadedWith(path: string, known = new Set<string>()): ReadonlySet<string> {
  if (known.has(path)) return known;
  known.add(path);
  for (const [, to = ""] of readFileSync(path, "utf8").matchAll(/(?:from|^import)\s?"(\.[^"]+)"/gm))
    loadedWith(join(dirname(path), to), known);
  return known;
}

function spansOf(text: string): readonly Span[] {
  const body: { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] } = JSON.parse(text);
  return body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

function attributeOf(span: Span | undefined, key: string): string | undefined {
  return span?.attributes.find((attribute) => attribute.key === key)?.value.stringValue;
}

async function openCollector(): Promise<Collector> {
  const received: { path: string; type: string; text: string }[] = [];
  const server: Server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    request.on("end", () => {
      received.push({ path: request.url ?? "", type: request.headers["content-type"] ?? "", text });
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
