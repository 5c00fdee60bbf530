// wbenv - environment variables. A template gets none of the user's: worlds must load alike everywhere.
(function () {
  'use strict';
  const getFromEnv = (name, fallback) => fallback === undefined ? '' : fallback;
  return { getFromEnv };
})
