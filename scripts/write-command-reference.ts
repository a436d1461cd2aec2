import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { renderReference } from '../apps/cli/src/program/command-reference.ts';
import { allCommands } from '../apps/cli/src/program/program.ts';

/** The text of `docs/commands.md`. */
export const commandReference = (): string => renderReference(allCommands());

if (import.meta.main) writeFileSync(path.resolve(import.meta.dirname, '../docs/commands.md'), commandReference());
