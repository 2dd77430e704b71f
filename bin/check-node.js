// Throws on a Node that is too old: the launcher and the library begin with it. Every Node that a person may have must understand it.
import process from "node:process";

const needed = [22, 19];
const [major, minor] = process.versions.node.split(".").map(Number);

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  throw new Error(
    `this is Node.js ${process.versions.node}, and graphform needs ${needed.join(".")} or newer: \`npm install --save-dev node@24\` puts one beside it (with --ignore-scripts, \`npm rebuild node --ignore-scripts=false\` does), and \`npx graphform\` uses that one (a clone has it already)`,
  );
}
