import { webhookDelivery } from 'longshore/batteries';

/** A ready-made job: sends `data` to `url` by POST, with retries and a receipt. */
export const delivery = webhookDelivery({ owner: 'team-examples' });
