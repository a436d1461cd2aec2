import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readEnv, repeatedEnvNames, unreadEnvLines } from '@svc/service-kit/config/env-file.ts';
import { SettingsError } from '@svc/service-kit/config/setting.ts';
import { loadSettings, unknownSettings, type Settings } from '@svc/service-kit/config/settings.ts';
import type { StartedReader } from '@svc/store/database-reader.ts';
import { fine, note, problem, skipped, type Finding } from './finding.ts';

/**
 * Examines the clone, the settings, the data folder and the processes, in this order; without valid settings the rest is skipped. Quotes
 * of files and processes are masked.
 */
export async function examine(root: string, reader: StartedReader): Promise<Finding[]> {
  const { findings, settings } = examineSettings(root);
  const before = [...examineInstall(root), ...findings];
  if (settings === null) {
    reader.end();
    return (await import('../output-mask.ts')).withoutSecrets([
      ...before,
      skipped('the rest', 'checked once the settings are valid'),
    ]);
  }
  // The processes are asked first: they and the database reader work while the rest is loaded.
  const { examineRunning } = await import('./examine-running.ts');
  const running = examineRunning(settings);
  const { examineDatabases } = await import('./examine-databases.ts');
  const [{ around, services }, databases] = await Promise.all([running, examineDatabases(settings.dataDir, reader)]);
  const after = [...around, ...databases, ...services];
  const all = [...before, ...after];
  // Findings without a problem contain only our own paths and messages. Loading the mask takes longer than everything else.
  const isQuoting = all.some((finding) => finding.state === 'problem' || (finding.state === 'note' && finding !== openManager));
  return isQuoting ? (await import('../output-mask.ts')).openOutputMask({ settings }).value(all) : all;
}

const openManager = note('settings', 'SVC_MANAGER_TOKEN is not set: every local program may change instances');

function examineSettings(root: string): { findings: Finding[]; settings: Settings | null } {
  try {
    const env = readEnv(root);
    const settings = loadSettings(root, env);
    const unknown = unknownSettings(env).map((name) =>
      note('settings', `${name} is set, but no part of the service reads it`, 'see .env.example for the names'),
    );
    const repeated = repeatedEnvNames(root).map((name) =>
      note('settings', `${name} is set more than once in .env; the last line counts`, 'remove the others'),
    );
    const unread = unreadEnvLines(root).map((text) => note('settings', text, 'write it as NAME=value, or remove it'));
    const open = settings.managerToken === null ? [openManager] : [];
    return { settings, findings: [fine('settings', 'all usable'), ...unknown, ...repeated, ...unread, ...open] };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return {
      settings: null,
      findings: error.problems.map((text) => problem('settings', text, 'change it in .env or the environment')),
    };
  }
}

/** The Node that runs this, and the installed dependencies. */
export function examineInstall(root: string): Finding[] {
  return [fine('node', `${process.versions.node} (${process.execPath})`), dependencies(root)];
}

function dependencies(root: string): Finding {
  const lock = readText(path.join(root, 'package-lock.json'));
  const stamp = readText(path.join(root, 'node_modules', '.svc-lock'));
  if (lock === null) return problem('dependencies', 'package-lock.json is missing', 'git checkout package-lock.json');
  if (stamp === null) return note('dependencies', 'not installed by ./svc, so their versions are not verified', './svc status');
  if (stamp !== lock) return problem('dependencies', 'older than package-lock.json', './svc status');
  return fine('dependencies', 'as package-lock.json says');
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null; // the caller says what its absence means
  }
}
