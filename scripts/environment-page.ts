import { variables } from "../src/project/settings.ts";

/** `docs/environment.md`: every variable that commands read. */
export function environmentPage(): string {
  const rows = Object.entries(variables).map(([name, about]) => `| \`${name}\` | ${about} |`);
  return `${head}\n\n| Variable | Meaning |\n| --- | --- |\n${rows.join("\n")}\n\n${foot}\n`;
}

const head = `# Variables of the environment

Written by \`npm run emit\` from \`src/project/settings.ts\`; they are read once, as a command starts. An empty variable counts as
unset. An option wins over a variable, a variable over the manifest, the manifest over the local platform.`;

const foot = `Besides these: the variables that a manifest names (\`env: NAME\`, \`\${env.NAME}\`); commands of secrets get those that are named for them ([secrets](state-and-secrets.md)); those of
OpenTelemetry ([telemetry.md](telemetry.md)); and \`GRAPHFORM_ENGINE\` and \`GRAPHFORM_MODULE\`, the server and the module of the local
platform ([local-platform.md](local-platform.md)).

**No proxy is used** for the service, for the store of a state or for databases: \`HTTP_PROXY\`, \`HTTPS_PROXY\`, \`ALL_PROXY\` and \`NO_PROXY\` are not read, and
there is no option for one. A machine that reaches the network through a proxy alone needs a direct way to these hosts.`;
