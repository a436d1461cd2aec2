import path from 'node:path';
import { serveStdio as serveMcp } from '@modelcontextprotocol/server/stdio';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { readEnv } from '@svc/service-kit/config/env-file.ts';
import { SettingsError } from '@svc/service-kit/config/setting.ts';
import { loadSettings, type Settings } from '@svc/service-kit/config/settings.ts';
import { versionOf } from '@svc/service-kit/version.ts';
import { createForwardCall, createServer } from './create-server.ts';

/** The folder of the clone, three above this file. */
const repositoryRoot = path.resolve(import.meta.dirname, '../../..');

/** Serves an MCP client of the operator over stdin and stdout, with the operator's token. Ends when stdin does. */
export function serveStdio(): void {
  const { bindHost, corePort, toolbeltToken } = readSettings();
  if (toolbeltToken === null) {
    process.stderr.write('SVC_TOOLBELT_TOKEN is not set. Give the service and this program the same long random value.\n');
    process.exit(exitCodes.badSettings);
  }
  const forward = createForwardCall(`http://${bindHost}:${corePort}`);
  const version = versionOf(repositoryRoot);
  serveMcp(() => createServer({ version, forward }, toolbeltToken), {
    onerror: (error) => process.stderr.write(`${error.message}\n`),
  });
}

function readSettings(): Settings {
  try {
    return loadSettings(repositoryRoot, readEnv(repositoryRoot));
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(exitCodes.badSettings);
  }
}
