import { runService } from '@svc/service-kit/run-service.ts';
import { startDashboard } from './start-dashboard.ts';

await runService('dashboard', startDashboard);
