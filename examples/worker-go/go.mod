module worker

go 1.19
