import { runService } from '@svc/service-kit/run-service.ts';
import { startVault } from './start-vault.ts';

await runService('vault', (service) => startVault(service));
