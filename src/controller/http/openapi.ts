/** @module Makes the OpenAPI 3.1 document from the table of endpoints. */
import { components, pathSchemas, ref, type Schema } from "./documents.ts";
import type { Endpoint } from "./endpoint.ts";

/** The document that describes these endpoints. */
export function openApi(endpoints: readonly Endpoint[], version: string): Schema {
  const paths: { [path: string]: { [method: string]: Schema } } = {};
  for (const row of endpoints)
    paths[row.path] = { ...paths[row.path], [row.method.toLowerCase()]: operation(row) };
  const basic = { type: "http", scheme: "basic", description: "The token as the password of any user." };
  const securitySchemes = { bearer: { type: "http", scheme: "bearer" }, basic };
  const info = { title: "graphform controller", version };
  return { openapi: "3.1.0", info, paths, components: { schemas: components, securitySchemes } };
}

function operation(row: Endpoint): Schema {
  const { id, summary, role, scope, query = {}, body, answers, basic } = row;
  const key = {
    name: "Idempotency-Key",
    in: "header",
    schema: { type: "string", minLength: 1, maxLength: 255 },
  };
  const parameters = [
    ...row.parameters.map((name) => ({ name, in: "path", required: true, schema: pathSchemas[name] ?? {} })),
    ...Object.entries(query).map(([name, schema]) => ({ name, in: "query", schema })),
    ...(row.isRepeatable ? [key] : []),
  ];
  const problem = { "application/problem+json": { schema: ref("Problem") } };
  const responses = Object.entries(answers).map(([status, answer]): readonly [string, Schema] => [
    status,
    Number(status) < 400
      ? {
          description: status === "202" ? "Asked for." : "Done.",
          ...(answer === null ? {} : { content: contentOf(answer) }),
        }
      : { description: "Refused.", content: { ...contentOf(answer), ...problem } },
  ]);
  const needs = `Takes a token for ${scope === "all" ? "all tenants" : "the tenant"} with the role ${role} or one above it.`;
  const schema = body === "bytes" ? {} : body;
  return {
    operationId: id,
    summary,
    ...(role === "public" ? {} : { description: needs }),
    parameters,
    ...(body === undefined
      ? {}
      : { requestBody: { required: body !== "bytes", content: { "application/json": { schema } } } }),
    responses: { ...Object.fromEntries(responses), default: { description: "Refused.", content: problem } },
    security: role === "public" ? [] : [{ bearer: [] }, ...(basic === true ? [{ basic: [] }] : [])],
  };
}

/** The content of an answer by its type. */
function contentOf(answer: string | null): Schema {
  if (answer === null) return {};
  const isType = answer.includes("/");
  return { [isType ? answer : "application/json"]: { schema: isType ? { type: "string" } : ref(answer) } };
}
