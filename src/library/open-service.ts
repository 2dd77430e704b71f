/** @module Opens the service of a manifest for a program. */
import process from "node:process";
import { systemClock } from "../model/clock.ts";
import { connect } from "../project/connect.ts";
import { locateService } from "../project/locate-service.ts";
import { learnSecretsAtHand } from "../project/session.ts";
import { settingsOf } from "../project/settings.ts";
import { projects, services } from "./handles.ts";
import type { LoadedManifest } from "./load-manifest.ts";

/** Location of a service. An absent value comes from the environment, the manifest, or last the local platform. */
export interface ServiceRequest {
  readonly platformUrl?: string;
  readonly usersUrl?: string;
  /** Id of the subscription that owns the instances. */
  readonly subscription?: string;
  /** Largest number of requests in flight. */
  readonly parallelism?: number;
  /** Longest wait for an answer, its repetitions included, in ms. */
  readonly timeout?: number;
  /** Environment with `GRAPHFORM_USERNAME`, `GRAPHFORM_PASSWORD` and the secrets; default is that of the process. */
  readonly env?: { readonly [name: string]: string | undefined };
  /** Called with one line per request, without secrets. */
  readonly onRequest?: (line: string) => void;
}

/** A service to plan against and to apply to. Close it when done. */
export interface OpenService {
  readonly platformUrl: string;
  close(): Promise<void>;
}

/** Finds the service and prepares the client. Sends nothing. Throws `no-service`, `no-credentials`. */
export async function openService(
  manifest: LoadedManifest,
  request: ServiceRequest = {},
): Promise<OpenService> {
  const { env = process.env, onRequest = () => undefined, ...options } = request;
  const settings = settingsOf(env);
  const project = projects.get(manifest);
  await learnSecretsAtHand(project, settings);
  const location = await locateService(project, options, settings);
  const connection = await connect(location, options, settings, systemClock, onRequest);
  const service: OpenService = { platformUrl: location.platformUrl, close: () => connection.close() };
  services.set(service, { location, connection, settings });
  return service;
}
