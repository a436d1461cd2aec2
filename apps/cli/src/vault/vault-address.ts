import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';

/** Where a vault of ours listens. */
const ownUrl = ({ bindHost, vaultPort }: CliSettings): string => `http://${bindHost}:${vaultPort}`;

/** Where the vault is: where the settings say, else where our own would be. */
export const vaultAddress = (settings: CliSettings): string => settings.vaultUrl ?? ownUrl(settings);
