-- wbcommon - another name of wbcore.
return require('wbcore')
