import { Option, type Command } from 'commander';
import { defineCommand, defineDefault, wholeNumber } from '../program/define-command.ts';

type Json = { json?: boolean };
export type UploadOptions = Json & { mime?: string; parallel: number };

/** The actions of `svc upload`. */
export type UploadRequest = Json &
  (
    | { action: 'list'; lines: number; before?: string }
    | ({ action: 'add'; files: string[] } & UploadOptions)
    | { action: 'remove'; ids: string[] }
  );

type Run = (request: UploadRequest) => Promise<void>;

/** Adds `upload` and its subcommands. `./svc upload FILE` is `./svc upload add FILE` (`old-spellings.ts`). */
export function addUploadCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'upload', {
    summary: 'list the files of the upload area, send or delete some',
    examples: ['./svc upload holiday.mp4', './svc upload', './svc upload remove upl_1k7uj7s5f00878d4ysf'],
  });
  defineDefault(noun, 'list', {
    summary: 'list the files, the newest first',
    examples: ['./svc upload', './svc upload list -n 200 --json'],
  })
    .option('-n, --lines <count>', 'how many', wholeNumber(1, 1000), 30)
    .option('--before <id>', 'only older ones than this')
    .option('--json', 'print JSON')
    .action((options: Json & { lines: number; before?: string }) => run({ action: 'list', ...options }));
  defineCommand(noun, 'add', {
    summary: 'send files; an interrupted upload resumes',
    examples: ['./svc upload add holiday.mp4 notes.txt', './svc upload add data --mime text/csv --json'],
  })
    .argument('<files...>', 'of any size')
    .option('--mime <type>', 'their type, if their names do not show it')
    .addOption(new Option('--parallel <n>', 'chunks on their way at once').argParser(wholeNumber(1, 16)).default(4))
    .option('--json', 'print JSON')
    .action((files: string[], options: UploadOptions) => run({ action: 'add', files, ...options }));
  defineCommand(noun, 'remove', { summary: 'delete files', examples: ['./svc upload remove upl_1k7uj7s5f00878d4ysf'] })
    .argument('<ids...>', 'as the list shows them')
    .option('--json', 'print JSON')
    .action((ids: string[], options: Json) => run({ action: 'remove', ids, ...options }));
}
