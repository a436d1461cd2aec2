import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fine, note, problem, type Finding } from './finding.ts';

/** The Node that runs this and the installed dependencies. */
export function examineInstall(root: string): Finding[] {
  return [fine('node', `${process.versions.node} (${process.execPath})`), dependencies(root)];
}

function dependencies(root: string): Finding {
  const lock = readText(path.join(root, 'package-lock.json'));
  const stamp = readText(path.join(root, 'node_modules', '.svc-lock'));
  if (lock === null) return problem('dependencies', 'package-lock.json is missing', 'git checkout package-lock.json');
  if (stamp === null)
    return note('dependencies', 'not installed by ./svc, so nothing vouches for their versions', './svc status');
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
