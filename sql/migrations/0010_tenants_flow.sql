-- Of jobs with the same priority, a tenant gets a share of the claims: twice the weight, twice the share.
alter table longshore.tenant
  add column weight smallint not null default 1 check (weight between 1 and 1000);
