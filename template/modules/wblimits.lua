-- wblimits - the largest whole numbers that a double holds exactly.
return { maxdouble = 2.0 ^ 53, mindouble = -2.0 ^ 53 }
