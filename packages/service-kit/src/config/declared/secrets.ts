import { setting } from '../setting.ts';
import { command, dataFile } from '../setting-types.ts';

/** Settings: where secrets come from. */
export const secretSettings = {
  secretsFile: setting('SVC_SECRETS_FILE', dataFile('secrets.json'), {
    text: 'JSON file of secrets, mode 0600. Default: secrets.json in the data folder.',
  }),
  /** Program that gives secrets, with its arguments. */
  secretsCommand: setting('SVC_SECRETS_COMMAND', command(), {
    text: 'Program asked for secrets that are not in the file, name as last argument, value on stdout. No shell; a JSON array for blanks.',
  }),
};
