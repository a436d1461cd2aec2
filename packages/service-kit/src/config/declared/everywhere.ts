import { setting } from '../setting.ts';
import { absolutePath, hostNames, integer, oneOf, shortName, text, optionalText } from '../setting-types.ts';

/** Settings that every process reads. */
export const everywhereSettings = {
  dataDir: setting('SVC_DATA_DIR', absolutePath(), {
    text: 'Folder for every file the service writes. A relative path is relative to this folder, like all paths here.',
    default: '~/.svc',
  }),
  bindHost: setting('SVC_BIND_HOST', text(), {
    text: 'Address the processes listen on: 127.0.0.1 or another of 127.x.x.x.',
    default: '127.0.0.1',
  }),
  allowedHosts: setting('SVC_ALLOWED_HOSTS', hostNames(), { text: 'Host names a reverse proxy may send, separated by commas.' }),
  assistantName: setting('SVC_ASSISTANT_NAME', shortName(), {
    text: 'What the assistant calls itself, such as Jarvis. In lower case it is the name to mention it by, and part of the names of its tools.',
    default: 'assistant',
  }),
  logLevel: setting('SVC_LOG_LEVEL', oneOf(['trace', 'debug', 'info', 'warn', 'error', 'silent']), {
    text: 'trace, debug, info, warn, error or silent.',
    default: 'info',
  }),
  stopTimeoutMs: setting('SVC_STOP_TIMEOUT_MS', integer(100, 600_000), {
    text: 'How long a process may finish its work when it is stopped.',
    default: '10000',
  }),
  /** What a commit of a database survives: the end of the process, or also a power failure. */
  durability: setting('SVC_DURABILITY', oneOf(['normal', 'full']), {
    text: 'normal: the end of any process loses nothing, a power failure may lose the last second. full: neither does; each commit waits for the disk.',
    default: 'normal',
  }),
};

/** Settings: the `svc` program, which starts Node. */
export const wrapperSettings = {
  node: setting('SVC_NODE', optionalText(), { text: 'Node program that ./svc uses instead of looking for one.' }),
};
