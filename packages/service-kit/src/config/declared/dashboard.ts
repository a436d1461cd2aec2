import { setting } from '../setting.ts';
import { oneOf, port } from '../setting-types.ts';

/** Settings: the dashboard, the web pages of the operator. */
export const dashboardSettings = {
  dashboard: setting('SVC_DASHBOARD', oneOf(['on', 'off']), {
    text: 'off: ./svc up runs no dashboard.',
    default: 'on',
  }),
  dashboardPort: setting('SVC_DASHBOARD_PORT', port(), { text: 'Port of the dashboard.', default: '3020' }),
};
