import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { awsCredentials } from "../../../src/state/remote/s3/aws-credentials.ts";
import { type FaultyServer, startFaultyServer } from "../../support/faulty-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { codeOf, wordsOf } from "./holders.ts";

const none = (): Promise<unknown> => Promise.reject(new Error("ERR_MODULE_NOT_FOUND"));

/** A token service that gives sessions of an hour, each with keys of its own. */
async function startTokenService(now: () => number): Promise<FaultyServer> {
  let count = 0;
  const server = await startFaultyServer(() => {
    count += 1;
    const body = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>
      <AccessKeyId>ASIA${count}</AccessKeyId><SecretAccessKey>secret/${count}+0123</SecretAccessKey><SessionToken>session==${count}</SessionToken>
      <Expiration>${new Date(now() + 3_600_000).toISOString()}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
    return { status: 200, headers: { "content-type": "text/xml" }, body };
  });
  onTestFinished(() => server.close());
  return server;
}

async function tokenFile(): Promise<string> {
  const file = join(temporaryFolder("token"), "token");
  writeFileSync(file, "eyJ.first.token\n");
  return file;
}

describe("credentials for AWS", () => {
  it("are those of the environment first", async () => {
    const environment = {
      AWS_ACCESS_KEY_ID: "AKIA1",
      AWS_SECRET_ACCESS_KEY: "s",
      AWS_SESSION_TOKEN: "t",
      AWS_ROLE_ARN: "r",
      AWS_WEB_IDENTITY_TOKEN_FILE: "/none",
    };
    expect(await awsCredentials({ environment })()).toEqual({
      accessKeyId: "AKIA1",
      secretAccessKey: "s",
      sessionToken: "t",
    });
    const half = awsCredentials({ environment: { AWS_ACCESS_KEY_ID: "AKIA1" } });
    expect(await codeOf(half())).toBe("state-denied");
    expect(await wordsOf(half())).toContain("AWS_SECRET_ACCESS_KEY is not");
  });

  it("come from a web identity token, are kept, and are fetched again before they end, or when they were refused", async () => {
    let now = Date.parse("2026-11-22T10:00:00Z");
    const server = await startTokenService(() => now);
    const file = await tokenFile();
    const credentials = awsCredentials({
      environment: {
        AWS_WEB_IDENTITY_TOKEN_FILE: file,
        AWS_ROLE_ARN: "arn:aws:iam::1:role/deploy",
        AWS_ENDPOINT_URL_STS: server.origin,
      },
      now: () => now,
    });
    const [first] = await Promise.all([credentials(), credentials()]);
    expect(first).toEqual({
      accessKeyId: "ASIA1",
      secretAccessKey: "secret/1+0123",
      sessionToken: "session==1",
      expires: now + 3_600_000,
    });
    now += 54 * 60_000;
    expect((await credentials()).accessKeyId).toBe("ASIA1");
    writeFileSync(file, "eyJ.second.token");
    now += 60_000;
    expect((await credentials()).accessKeyId).toBe("ASIA2");
    expect((await credentials(true)).accessKeyId).toBe("ASIA3");
    expect((await credentials()).accessKeyId).toBe("ASIA3");
    expect(server.calls.map(({ method, target, body }) => `${method} ${target} ${body}`)).toEqual(
      ["first", "second", "second"].map(
        (word) =>
          `POST / Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fdeploy&RoleSessionName=graphform&WebIdentityToken=eyJ.${word}.token`,
      ),
    );
  });

  it("say what is wrong, and repeat no token", async () => {
    const server = await startTokenService(() => 0);
    const file = await tokenFile();
    const environment = {
      AWS_WEB_IDENTITY_TOKEN_FILE: file,
      AWS_ROLE_ARN: "arn:role",
      AWS_ENDPOINT_URL_STS: server.origin,
    };
    const cases = [
      [403, "state-denied"],
      [400, "state-denied"],
      [500, "state-unreachable"],
      [200, "state-unreachable"],
    ] as const;
    for (const [status, code] of cases) {
      server.misbehave = ({ body }) => ({ status, body: `<Error>${body} eyJ.first.token</Error>` });
      expect(await codeOf(awsCredentials({ environment })())).toBe(code);
      expect(await wordsOf(awsCredentials({ environment })())).not.toContain("eyJ.first");
    }
    const missing = { ...environment, AWS_WEB_IDENTITY_TOKEN_FILE: `${file}-none` };
    expect(await wordsOf(awsCredentials({ environment: missing })())).toContain("cannot be read");
    const inClear = { ...environment, AWS_ENDPOINT_URL_STS: "http://sts.example.com" };
    expect(await codeOf(awsCredentials({ environment: inClear })())).toBe("url-in-clear");
  });

  it("come from AWS's own chain where that is installed", async () => {
    let now = 0;
    let count = 0;
    const chain = {
      fromNodeProviderChain: () => async () => {
        count += 1;
        return { accessKeyId: `ASIA${count}`, secretAccessKey: "s", expiration: new Date(now + 3_600_000) };
      },
    };
    const credentials = awsCredentials({ environment: {}, now: () => now, loadProviders: async () => chain });
    expect(await credentials()).toEqual({ accessKeyId: "ASIA1", secretAccessKey: "s", expires: 3_600_000 });
    now = 3_500_000;
    expect((await credentials()).accessKeyId).toBe("ASIA2");
    const failing = {
      fromNodeProviderChain: () => () => Promise.reject(new Error("profile with secretword")),
    };
    const refused = awsCredentials({ environment: {}, loadProviders: async () => failing });
    expect(await codeOf(refused())).toBe("state-denied");
    expect(await wordsOf(refused())).not.toContain("secretword");
    expect(await codeOf(awsCredentials({ environment: {}, loadProviders: async () => ({}) })())).toBe(
      "state-denied",
    );
  });

  it("name the variables and the package where there are none", async () => {
    const words = await wordsOf(awsCredentials({ environment: {}, loadProviders: none })());
    expect(words).toMatch(
      /AWS_ACCESS_KEY_ID.*AWS_WEB_IDENTITY_TOKEN_FILE.*install @aws-sdk\/credential-providers/s,
    );
    // It is not installed with graphform.
    expect(await codeOf(awsCredentials({ environment: {} })())).toBe("state-denied");
  });
});
