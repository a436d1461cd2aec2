import { CliError } from '../cli-error.ts';

/** The start configuration. `env`: variables that would be missing without the shell. */
export type Startup = { root: string; env: Readonly<Record<string, string>>; stopTimeoutMs: number };

/** The unit of systemd, for one user. */
export function renderUnit({ root, env, stopTimeoutMs }: Startup): string {
  const variables = Object.entries(env).map(([name, value]) => `Environment=${word(`${name}=${value}`)}`);
  return `# Written by "./svc service install".
${mark(root)}
[Unit]
Description=Assistant Gateway

[Service]
ExecStart=${word(`${root}/svc`)} up
${variables.join('\n')}
Restart=on-failure
RestartSec=10
KillMode=mixed
TimeoutStopSec=${Math.ceil(stopTimeoutMs / 1000) + 10}
Delegate=yes

[Install]
WantedBy=default.target
`;
}

/** The line by which an installation recognizes its own unit. */
export const mark = (root: string): string => `# Installation: ${oneLine(root)}`;

/** A quoted word of a unit file, with `%` escaped. */
const word = (text: string): string => `"${oneLine(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`;

/** The agent of launchd, for one user. */
export function renderAgent({ root, env, stopTimeoutMs }: Startup, label: string, logFile: string): string {
  const variables = Object.entries(env).map(([name, value]) => `    <key>${xml(name)}</key><string>${xml(value)}</string>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${xml(label)}</string>
  <key>ProgramArguments</key><array><string>${xml(`${root}/svc`)}</string><string>up</string></array>
  <key>EnvironmentVariables</key>
  <dict>
${variables.join('\n')}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>10</integer>
  <key>ExitTimeOut</key><integer>${Math.ceil(stopTimeoutMs / 1000) + 10}</integer>
  <key>StandardOutPath</key><string>${xml(logFile)}</string>
  <key>StandardErrorPath</key><string>${xml(logFile)}</string>
</dict>
</plist>
`;
}

const xml = (text: string): string =>
  oneLine(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** @throws CliError for a value that neither format can contain */
function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are meant
  if (!/[\u0000-\u001F\u007F]/.test(text)) return text;
  throw new CliError('this cannot be written into a service.', {
    why: 'A path or a setting has a line break or another control character in it.',
  });
}

const secretName = /TOKEN|KEY|SECRET|PASSWORD/;

/** The environment variables that a service needs from the shell, and the names of settings that are left out because others can read the file. */
export function startupEnv(env: Readonly<Record<string, string | undefined>>): { env: Record<string, string>; left: string[] } {
  const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const ours = set.filter(([name]) => name.startsWith('SVC_'));
  const kept = ours.filter(([name]) => !secretName.test(name));
  const path = set.filter(([name]) => name === 'PATH');
  return {
    env: Object.fromEntries([...path, ...kept]),
    left: ours.filter(([name]) => secretName.test(name)).map(([name]) => name),
  };
}
