import { isIPv4 } from 'node:net';

/** The settings that are checked against each other. */
type Checked = Readonly<{
  bindHost: string;
  corePort: number;
  managerPort: number;
  collectorPort: number;
  compatPort: number;
  vaultPort: number;
  spendSoftUsd: number | null;
  spendHardUsd: number | null;
  spendPrincipalSoftUsd: number | null;
  spendPrincipalHardUsd: number | null;
  uploadChunkBytes: number;
  uploadMaxChunkBytes: number;
}>;

/** The contradictions between settings that are valid on their own, as texts for the operator. */
export function settingFaults(settings: Checked): string[] {
  const ports = [settings.corePort, settings.managerPort, settings.collectorPort];
  const { spendPrincipalSoftUsd, spendPrincipalHardUsd } = settings;
  const faults: [isFault: boolean, words: string][] = [
    [new Set(ports).size < ports.length, 'SVC_CORE_PORT, SVC_MANAGER_PORT and SVC_COLLECTOR_PORT must differ.'],
    [
      (settings.spendSoftUsd ?? 0) > (settings.spendHardUsd ?? Infinity),
      'SVC_SPEND_SOFT_USD is above SVC_SPEND_HARD_USD, so it would never warn. Lower it.',
    ],
    [
      (spendPrincipalSoftUsd ?? 0) > (spendPrincipalHardUsd ?? Infinity),
      'SVC_SPEND_PRINCIPAL_SOFT_USD is above SVC_SPEND_PRINCIPAL_HARD_USD, so it would never warn. Lower it.',
    ],
    [
      settings.uploadChunkBytes > settings.uploadMaxChunkBytes,
      'SVC_UPLOAD_CHUNK_SIZE is above SVC_UPLOAD_MAX_CHUNK, so every chunk would be refused. Lower it.',
    ],
    [ports.includes(settings.vaultPort), 'SVC_VAULT_PORT must differ from the ports of the other processes.'],
    [ports.includes(settings.compatPort), 'SVC_COMPAT_PORT must differ from the ports of the processes.'],
    // The core answers every program that can reach it, so a network address would give everyone the rights of the owner.
    [
      !isIPv4(settings.bindHost) || !settings.bindHost.startsWith('127.'),
      `SVC_BIND_HOST is "${settings.bindHost}". It takes 127.0.0.1 or another 127.x.x.x; for access from a network, put a proxy with a login in front.`,
    ],
  ];
  return faults.flatMap(([isFault, words]) => (isFault ? [words] : []));
}
